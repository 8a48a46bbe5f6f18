// SPDX-License-Identifier: MIT
//! The Time Stamp Counter.
//!
//! RDTSC may execute before earlier loads have completed. RDTSCP waits until all earlier
//! instructions have executed and all earlier loads are visible; LFENCE after it keeps later
//! instructions back.

use crate::counter::CounterId;
use core::arch::asm;

pub(crate) const COUNTER: CounterId = CounterId::X86Tsc;

/// The two halves as they come. In 64-bit mode the upper halves of both registers are cleared.
#[inline(always)]
fn whole(low: usize, high: usize) -> u64 {
    ((high as u64) << 32).wrapping_add(low as u64)
}

#[inline(always)]
pub(crate) fn ticks() -> u64 {
    let (low, high): (usize, usize);
    // SAFETY: reads a register. Where it may not be read the processor traps.
    unsafe {
        asm!("rdtsc", out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags));
    }
    whole(low, high)
}

#[inline(always)]
pub(crate) fn ticks_ordered() -> u64 {
    let (low, high): (usize, usize);
    // SAFETY: as above.
    unsafe {
        asm!("rdtscp", out("eax") low, out("edx") high, out("ecx") _,
             options(nostack, preserves_flags));
    }
    whole(low, high)
}

/// Everything before has completed, nothing after has begun.
#[inline(always)]
pub(crate) fn ticks_begin() -> u64 {
    let (low, high): (usize, usize);
    // SAFETY: as above.
    unsafe {
        asm!("lfence", "rdtsc", "lfence", out("eax") low, out("edx") high,
             options(nostack, preserves_flags));
    }
    whole(low, high)
}

#[inline(always)]
pub(crate) fn ticks_end() -> u64 {
    let (low, high): (usize, usize);
    // SAFETY: as above.
    unsafe {
        asm!("rdtscp", "lfence", out("eax") low, out("edx") high, out("ecx") _,
             options(nostack, preserves_flags));
    }
    whole(low, high)
}
