// SPDX-License-Identifier: MIT
//! What one tick says.

use crate::{Interval, UtcTime};
use core::fmt;

/// Where nothing is known: large, and far from the end of the range.
#[cfg_attr(not(feature = "std"), allow(dead_code))]
const UNKNOWN_ERROR_NS: u64 = 1 << 60;

/// What the bounds are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// Nothing can be said; bounds do not hold.
    Unknown = 0,
    /// The frequency is not measured well yet; bounds hold.
    Initializing = 1,
    /// The reference says that it follows true UTC.
    Synchronized = 2,
    /// The reference does not follow UTC, or is out of reach.
    FreeRunning = 3,
    /// The counter has just misbehaved, or is distrusted.
    Unreliable = 4,
}

impl Status {
    pub(crate) const MASK: u32 = 0xf;

    /// The status in flags. Values that a page must not have count as unknown.
    pub(crate) const fn of(flags: u32) -> Self {
        match flags & Self::MASK {
            1 => Self::Initializing,
            2 => Self::Synchronized,
            3 => Self::FreeRunning,
            4 => Self::Unreliable,
            _ => Self::Unknown,
        }
    }

    /// "SYNCHRONIZED".
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "UNKNOWN",
            Self::Initializing => "INITIALIZING",
            Self::Synchronized => "SYNCHRONIZED",
            Self::FreeRunning => "FREERUNNING",
            Self::Unreliable => "UNRELIABLE",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Status, leap seconds and the TAI offset, as a line of a page has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flags(pub u32);

impl Flags {
    const TAI_SHIFT: u32 = 16;

    /// What the bounds are worth.
    #[inline]
    pub const fn status(self) -> Status {
        Status::of(self.0)
    }

    /// Has somebody set the TAI offset?
    pub const fn is_tai_valid(self) -> bool {
        self.0 & 0x10 != 0
    }

    /// Will a second be inserted at the end of the UTC day?
    pub const fn is_leap_insert(self) -> bool {
        self.0 & 0x20 != 0
    }

    /// Will a second be deleted there?
    pub const fn is_leap_delete(self) -> bool {
        self.0 & 0x40 != 0
    }

    /// Is `utc_maxerror_ns` an estimate, whatever the status?
    pub const fn is_estimate(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// Does the administrator vouch that this machine is never moved or restored?
    pub const fn is_never_moved(self) -> bool {
        self.0 & 0x100 != 0
    }

    /// Does the kernel distrust this counter?
    pub const fn is_counter_distrusted(self) -> bool {
        self.0 & 0x200 != 0
    }

    /// TAI − UTC in seconds; 0 while nobody has set it.
    #[inline]
    pub const fn tai_offset_sec(self) -> i16 {
        (self.0 >> Self::TAI_SHIFT) as i16
    }

    pub(crate) const fn with_status(self, status: Status) -> Self {
        Self(self.0 & !Status::MASK | status as u32)
    }
}

/// Everything one tick says: C's `struct timebase_instant`. Errors are half-widths, time ± error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// The tick.
    pub ticks: u64,
    /// Nanoseconds since boot.
    pub mono_ns: i64,
    /// Nanoseconds since 1970-01-01 UTC.
    pub utc_ns: i64,
    /// Against the reference clock, if it keeps its pace.
    pub maxerror_ns: u64,
    /// Against true UTC, if the reference is right about itself.
    pub utc_maxerror_ns: u64,
    /// Against the reference clock, probably: no promise.
    pub esterror_ns: u64,
    /// Status, leap seconds, TAI offset.
    pub flags: Flags,
}

impl Reading {
    /// There are neither lines nor a reference.
    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    pub(crate) const fn unknown(ticks: u64) -> Self {
        Self {
            ticks,
            mono_ns: 0,
            utc_ns: 0,
            maxerror_ns: UNKNOWN_ERROR_NS,
            utc_maxerror_ns: UNKNOWN_ERROR_NS,
            esterror_ns: UNKNOWN_ERROR_NS,
            flags: Flags(0),
        }
    }

    /// What the bounds are worth.
    #[inline]
    pub const fn status(&self) -> Status {
        self.flags.status()
    }

    /// UTC, as a time that prints itself.
    #[inline]
    pub const fn utc(&self) -> UtcTime {
        UtcTime::from_unix_ns(self.utc_ns)
    }

    /// International Atomic Time, nanoseconds since 1970-01-01 TAI; equal to UTC while nobody has
    /// told the kernel the difference ([`Flags::is_tai_valid`]).
    #[inline]
    pub const fn tai_ns(&self) -> i64 {
        tai_from_utc(self.utc_ns, self.flags)
    }

    /// Where true UTC is. A promise only if [`is_promise`](Self::is_promise).
    #[inline]
    pub const fn utc_interval(&self) -> Interval {
        Interval::around(self.utc_ns, self.utc_maxerror_ns)
    }

    /// Where `CLOCK_REALTIME` is. No promise if the status is unknown or unreliable.
    #[inline]
    pub const fn realtime_interval(&self) -> Interval {
        Interval::around(self.utc_ns, self.maxerror_ns)
    }

    /// Is the bound of true UTC a promise: synchronised, and no estimate?
    #[inline]
    pub const fn is_promise(&self) -> bool {
        matches!(self.status(), Status::Synchronized) && !self.flags.is_estimate()
    }
}

/// UTC plus the offset in a line's flags.
#[inline]
pub const fn tai_from_utc(utc_ns: i64, flags: Flags) -> i64 {
    utc_ns.wrapping_add(flags.tai_offset_sec() as i64 * 1_000_000_000)
}

/// Milliseconds, rounded down: for those who print or compare coarse times.
#[inline]
pub const fn ms_from_ns(ns: i64) -> i64 {
    ns.div_euclid(1_000_000)
}
