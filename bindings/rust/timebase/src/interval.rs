// SPDX-License-Identifier: MIT
//! Intervals of time: what can be said of two events when neither time is exact.

/// Time lies in `earliest_ns..=latest_ns`, nanoseconds since 1970-01-01 UTC.
///
/// ```
/// use timebase::Interval;
/// let a = Interval::around(1_000, 10);
/// let b = Interval::around(1_030, 10);
/// assert!(a.before(&b)); // whatever the clocks' errors
/// ```
///
/// An interval that ends before it begins is empty: it is before, after and within nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Interval {
    /// Not before this.
    pub earliest_ns: i64,
    /// Not after this.
    pub latest_ns: i64,
}

impl Interval {
    /// All moments within `error_ns` of `ns`; cut off at the ends of the range.
    #[inline]
    pub const fn around(ns: i64, error_ns: u64) -> Self {
        Self {
            earliest_ns: ns.saturating_sub_unsigned(error_ns),
            latest_ns: ns.saturating_add_unsigned(error_ns),
        }
    }

    /// Does it end before it begins?
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.latest_ns < self.earliest_ns
    }

    /// Is every moment of this before every moment of the other? Then this event came first.
    #[inline]
    pub const fn before(&self, other: &Self) -> bool {
        !self.is_empty() && !other.is_empty() && self.latest_ns < other.earliest_ns
    }

    /// Have they a moment in common? Then nobody can say which event came first.
    #[inline]
    pub const fn overlaps(&self, other: &Self) -> bool {
        !self.is_empty()
            && !other.is_empty()
            && self.latest_ns >= other.earliest_ns
            && other.latest_ns >= self.earliest_ns
    }

    /// Is the moment within?
    #[inline]
    pub const fn contains(&self, ns: i64) -> bool {
        self.earliest_ns <= ns && ns <= self.latest_ns
    }

    /// Twice the bound, exact; 0 if empty.
    #[inline]
    pub const fn width_ns(&self) -> u64 {
        if self.is_empty() {
            0
        } else {
            self.latest_ns.wrapping_sub(self.earliest_ns) as u64
        }
    }

    /// What two intervals of the same moment have in common; `None` if nothing, so that one of them
    /// is wrong.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let both = Self {
            earliest_ns: self.earliest_ns.max(other.earliest_ns),
            latest_ns: self.latest_ns.min(other.latest_ns),
        };
        (!both.is_empty()).then_some(both)
    }
}
