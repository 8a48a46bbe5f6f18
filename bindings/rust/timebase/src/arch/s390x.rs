// SPDX-License-Identifier: MIT
//! s390x: the time-of-day clock. STORE CLOCK FAST is the cheap read, STORE CLOCK the ordered one:
//! it serialises before the value is fetched. Both set the condition code.

use crate::counter::CounterId;
use core::arch::asm;

pub(crate) const COUNTER: CounterId = CounterId::S390Tod;

#[inline(always)]
pub(crate) fn ticks() -> u64 {
    let mut ticks = 0u64;
    // SAFETY: stores eight bytes where the register points.
    unsafe { asm!("stckf 0({})", in(reg_addr) &mut ticks, options(nostack)) };
    ticks
}

#[inline(always)]
pub(crate) fn ticks_ordered() -> u64 {
    let mut ticks = 0u64;
    // SAFETY: as above.
    unsafe { asm!("stck 0({})", in(reg_addr) &mut ticks, options(nostack)) };
    ticks
}

/// BCR 15,0 serialises: nothing later starts before it.
#[inline(always)]
pub(crate) fn ticks_begin() -> u64 {
    let ticks = ticks_ordered();
    // SAFETY: a barrier.
    unsafe { asm!("bcr 15, 0", options(nostack)) };
    ticks
}

#[inline(always)]
pub(crate) fn ticks_end() -> u64 {
    ticks_begin()
}
