// SPDX-License-Identifier: MIT
//! Monotonic time as a value.

use core::ops::{Add, AddAssign, Sub, SubAssign};
use core::time::Duration;

/// A moment of monotonic time: what `std::time::Instant` is, for some nanoseconds less. It never
/// goes back, and follows `CLOCK_MONOTONIC`.
///
/// ```
/// # #[cfg(all(feature = "sys", not(any(miri, loom))))] {
/// let start = timebase::Instant::now();
/// let elapsed: std::time::Duration = start.elapsed();
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    mono_ns: i64,
}

impl Instant {
    /// From a clock's monotonic time.
    #[inline]
    pub const fn from_mono_ns(mono_ns: i64) -> Self {
        Self { mono_ns }
    }

    /// Nanoseconds since boot.
    #[inline]
    pub const fn mono_ns(self) -> i64 {
        self.mono_ns
    }

    /// From an earlier moment to this one; zero if that is later.
    #[inline]
    pub const fn duration_since(self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// The same, by the name that says so.
    #[inline]
    pub const fn saturating_duration_since(self, earlier: Self) -> Duration {
        match self.checked_duration_since(earlier) {
            Some(duration) => duration,
            None => Duration::ZERO,
        }
    }

    /// The same; `None` if the other moment is later.
    #[inline]
    pub const fn checked_duration_since(self, earlier: Self) -> Option<Duration> {
        if earlier.mono_ns > self.mono_ns {
            return None;
        }
        Some(Duration::from_nanos(self.mono_ns.wrapping_sub(earlier.mono_ns) as u64))
    }

    /// So much later; `None` if there is no such moment.
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        let mono_ns = i128::from(self.mono_ns) + i128::try_from(duration.as_nanos()).ok()?;
        mono_ns.try_into().ok().map(Self::from_mono_ns)
    }

    /// So much earlier; `None` if there is no such moment.
    pub fn checked_sub(self, duration: Duration) -> Option<Self> {
        let mono_ns = i128::from(self.mono_ns) - i128::try_from(duration.as_nanos()).ok()?;
        mono_ns.try_into().ok().map(Self::from_mono_ns)
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration).expect("a moment within 292 years of boot")
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        self.checked_sub(duration).expect("a moment within 292 years of boot")
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_between_moments_do_not_wrap() {
        let (first, last) = (Instant::from_mono_ns(i64::MIN), Instant::from_mono_ns(i64::MAX));
        assert_eq!(last.duration_since(first).as_nanos(), u128::from(u64::MAX));
        assert_eq!(first.saturating_duration_since(last), Duration::ZERO);
        assert_eq!(first - last, Duration::ZERO);
        assert_eq!(first.checked_duration_since(last), None);
        assert_eq!(first + Duration::from_nanos(u64::MAX), last);
        assert_eq!(last.checked_add(Duration::from_nanos(1)), None);
        assert_eq!(first.checked_sub(Duration::MAX), None);
    }
}
