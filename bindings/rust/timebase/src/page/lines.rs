// SPDX-License-Identifier: MIT
//! Lines as plain numbers: a copy of what a page has, or what is to be written into one.

use crate::reading::Flags;

/// One straight line over the counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start_ticks: u64,
    pub(crate) mono_ns: u64,
    pub(crate) utc_ns: u64,
    pub(crate) period_frac: u64,
    pub(crate) period_ns: u32,
    pub(crate) flags: u32,
    pub(crate) maxerror_ns: u64,
    pub(crate) drift_rate: u32,
    pub(crate) slew_rate: u32,
    pub(crate) utc_maxerror_ns: u64,
}

/// How long the lines hold, and how wrong they probably are at their starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Validity {
    pub(crate) silent_ticks: u64,
    pub(crate) void_ticks: u64,
    pub(crate) before_esterror_ns: u64,
    pub(crate) slew_esterror_ns: u64,
    pub(crate) after_esterror_ns: u64,
    pub(crate) esterror_rate: u32,
}

/// The three lines of one copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) before: Line,
    pub(crate) slew: Line,
    pub(crate) after: Line,
    pub(crate) validity: Validity,
}

/// As `silent_ticks` or `void_ticks`: never.
pub(crate) const NEVER: u64 = 1 << 63;

/// The upper 64 bits of a product.
#[inline(always)]
pub(crate) const fn multiply_high(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// What a rate of 2^-32 ns per tick makes of d ticks, ns rounded down.
#[inline(always)]
pub(crate) const fn growth(d: u64, rate: u32) -> u64 {
    multiply_high(d, (rate as u64) << 32)
}

impl Line {
    /// The length of a tick in 2^-64 ns.
    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    pub(crate) const fn period(&self) -> u128 {
        (self.period_ns as u128) << 64 | self.period_frac as u128
    }

    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    pub(crate) const fn has_begun(&self, ticks: u64) -> bool {
        ticks.wrapping_sub(self.start_ticks) as i64 >= 0
    }

    /// UTC − monotonic, the same all along the line.
    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    pub(crate) const fn utc_offset_ns(&self) -> u64 {
        self.utc_ns.wrapping_sub(self.mono_ns)
    }
}

/// A line's flags at a tick d after the start of `after`: where nobody has renewed the lines in
/// time, the status falls to FREERUNNING, and later to UNKNOWN.
pub(crate) fn flags_at(d: u64, silent_ticks: u64, void_ticks: u64, flags: Flags) -> Flags {
    use crate::Status::{FreeRunning, Initializing, Synchronized, Unknown};
    if (d as i64) < 0 {
        flags
    } else if d >= void_ticks {
        flags.with_status(Unknown)
    } else if d >= silent_ticks && matches!(flags.status(), Synchronized | Initializing) {
        flags.with_status(FreeRunning)
    } else {
        flags
    }
}
