// SPDX-License-Identifier: MIT
//! Power, 64 bits of either order and 32: the Time Base. SYNC waits for earlier storage accesses,
//! ISYNC discards what was prefetched. Rust has `asm!` for Power since 1.95.

use crate::counter::CounterId;
use core::arch::asm;

pub(crate) const COUNTER: CounterId = CounterId::PowerTb;

#[cfg(target_arch = "powerpc64")]
#[inline(always)]
fn time_base() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that any program may read.
    unsafe { asm!("mfspr {}, 268", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

/// Two halves: read again when the upper one changed between its two reads.
#[cfg(target_arch = "powerpc")]
#[inline(always)]
fn time_base() -> u64 {
    loop {
        let (upper, lower, again): (u32, u32, u32);
        // SAFETY: as above.
        unsafe {
            asm!("mfspr {}, 269", "mfspr {}, 268", "mfspr {}, 269",
                 out(reg) upper, out(reg) lower, out(reg) again,
                 options(nomem, nostack, preserves_flags));
        }
        if upper == again {
            return u64::from(upper) << 32 | u64::from(lower);
        }
    }
}

/// Cell's erratum: while the upper half takes the carry, a read may give the old one with a lower
/// half of zero. A sound counter stays at zero for a tick in 2^32.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    loop {
        let ticks = time_base();
        if ticks as u32 != 0 {
            return ticks;
        }
    }
}

#[inline(always)]
pub(crate) fn ticks_ordered() -> u64 {
    // SAFETY: barriers, without `nomem` for the compiler too.
    unsafe { asm!("sync", "isync", options(nostack, preserves_flags)) };
    ticks()
}

#[inline(always)]
pub(crate) fn ticks_begin() -> u64 {
    let ticks = ticks_ordered();
    // SAFETY: as above.
    unsafe { asm!("isync", options(nostack, preserves_flags)) };
    ticks
}

#[inline(always)]
pub(crate) fn ticks_end() -> u64 {
    ticks_begin()
}
