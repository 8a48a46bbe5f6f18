// SPDX-License-Identifier: MIT
//! RISC-V: the `time` counter. Its read counts as device input, so FENCE orders it.

use crate::counter::CounterId;
use core::arch::asm;

pub(crate) const COUNTER: CounterId = CounterId::RiscvTime;

#[inline(always)]
pub(crate) fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that the platform lets any program read.
    unsafe { asm!("rdtime {}", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

#[inline(always)]
pub(crate) fn ticks_ordered() -> u64 {
    let ticks: u64;
    // SAFETY: as above.
    unsafe {
        asm!("fence r, i", "rdtime {}", out(reg) ticks, options(nostack, preserves_flags));
    }
    ticks
}

#[inline(always)]
pub(crate) fn ticks_begin() -> u64 {
    let ticks: u64;
    // SAFETY: as above.
    unsafe {
        asm!("fence rw, i", "rdtime {}", "fence i, rw", out(reg) ticks,
             options(nostack, preserves_flags));
    }
    ticks
}

#[inline(always)]
pub(crate) fn ticks_end() -> u64 {
    ticks_begin()
}
