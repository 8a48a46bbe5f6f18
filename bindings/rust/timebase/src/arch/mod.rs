// SPDX-License-Identifier: MIT
//! The processor's counter, one module each: `ticks`, `ticks_ordered`, and for the stopwatch
//! `ticks_begin` and `ticks_end`, with the orders that `include/timebase/arch` and `docs/proof.md`
//! give and explain.
//!
//! An `asm!` without `nomem` is a barrier to the compiler, as C's "memory" clobber is.

#[cfg(any(miri, loom))]
#[path = "model.rs"]
mod this;

#[cfg(all(any(target_arch = "x86_64", target_arch = "x86"), not(any(miri, loom))))]
#[path = "x86.rs"]
mod this;

#[cfg(all(target_arch = "aarch64", not(any(miri, loom))))]
#[path = "arm64.rs"]
mod this;

#[cfg(all(any(target_arch = "powerpc64", target_arch = "powerpc"), not(any(miri, loom))))]
#[path = "power.rs"]
mod this;

#[cfg(all(target_arch = "riscv64", not(any(miri, loom))))]
#[path = "riscv.rs"]
mod this;

#[cfg(all(target_arch = "s390x", not(any(miri, loom))))]
#[path = "s390x.rs"]
mod this;

#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "x86",
    target_arch = "aarch64",
    target_arch = "powerpc64",
    target_arch = "powerpc",
    target_arch = "riscv64",
    target_arch = "s390x",
    miri,
    loom
)))]
#[path = "fallback.rs"]
mod this;

#[cfg(any(miri, loom))]
pub(crate) use this::set_ticks;
pub(crate) use this::{ticks, ticks_begin, ticks_end, ticks_ordered, COUNTER};

/// Hides from the compiler that a number is known already: what is computed from it comes after
/// the counter's read, and runs while an ordered read is under way.
#[inline(always)]
pub(crate) fn late(number: usize) -> usize {
    #[cfg(not(any(miri, loom)))]
    {
        #[cfg(any(
            target_arch = "x86_64",
            target_arch = "x86",
            target_arch = "aarch64",
            target_arch = "powerpc64",
            target_arch = "powerpc",
            target_arch = "riscv64",
            target_arch = "s390x"
        ))]
        {
            let mut late = number;
            // SAFETY: no instruction at all.
            unsafe {
                core::arch::asm!("/* {0} */", inout(reg) late,
                                 options(nomem, nostack, preserves_flags));
            }
            return late;
        }
    }
    #[allow(unreachable_code)]
    number
}
