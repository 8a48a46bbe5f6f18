// SPDX-License-Identifier: MIT
//! The virtual count of the generic timer, CNTVCT_EL0. DSB ISHLD waits for earlier loads, ISB
//! keeps the read behind it.

use crate::counter::CounterId;
use core::arch::asm;

pub(crate) const COUNTER: CounterId = CounterId::ArmVcnt;

#[inline(always)]
pub(crate) fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register. Where it may not be read the processor traps.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

#[inline(always)]
pub(crate) fn ticks_ordered() -> u64 {
    let ticks: u64;
    // SAFETY: as above.
    unsafe {
        asm!("dsb ishld", "isb", "mrs {}, cntvct_el0", out(reg) ticks,
             options(nostack, preserves_flags));
    }
    ticks
}

#[inline(always)]
pub(crate) fn ticks_begin() -> u64 {
    let ticks: u64;
    // SAFETY: as above.
    unsafe {
        asm!("dsb ish", "isb", "mrs {}, cntvct_el0", "isb", out(reg) ticks,
             options(nostack, preserves_flags));
    }
    ticks
}

#[inline(always)]
pub(crate) fn ticks_end() -> u64 {
    ticks_begin()
}
