// SPDX-License-Identifier: MIT
//! UTC as a value: prints as RFC 3339, converts to and from `std::time::SystemTime`.

use core::fmt;
use core::ops::{Add, AddAssign, Sub, SubAssign};
use core::time::Duration;

const NS_PER_SEC: i64 = 1_000_000_000;
const SEC_PER_DAY: i64 = 86_400;

/// A time of UTC, to the nanosecond: what `std::time::SystemTime` is, from a clock that knows its
/// error. Counts as `CLOCK_REALTIME` does, without leap seconds; from 1677 to 2262.
///
/// ```
/// use timebase::UtcTime;
/// let launch = UtcTime::from_unix_ns(1_767_312_000_123_456_789);
/// assert_eq!(launch.to_string(), "2026-01-02T00:00:00.123456789Z");
/// assert_eq!(format!("{launch:.3}"), "2026-01-02T00:00:00.123Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcTime {
    unix_ns: i64,
}

impl UtcTime {
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self::from_unix_ns(0);

    /// Nanoseconds since 1970-01-01 UTC.
    #[inline]
    pub const fn from_unix_ns(unix_ns: i64) -> Self {
        Self { unix_ns }
    }

    /// Nanoseconds since 1970-01-01 UTC.
    #[inline]
    pub const fn unix_ns(self) -> i64 {
        self.unix_ns
    }

    /// From an earlier time to this one; `None` if that is later.
    pub const fn checked_duration_since(self, earlier: Self) -> Option<Duration> {
        if earlier.unix_ns > self.unix_ns {
            return None;
        }
        Some(Duration::from_nanos(self.unix_ns.wrapping_sub(earlier.unix_ns) as u64))
    }

    /// The same; zero if that is later. UTC may be stepped back: use an [`Instant`](crate::Instant)
    /// to measure.
    pub const fn saturating_duration_since(self, earlier: Self) -> Duration {
        match self.checked_duration_since(earlier) {
            Some(duration) => duration,
            None => Duration::ZERO,
        }
    }

    /// So much later; `None` if there is no such time.
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        let unix_ns = i128::from(self.unix_ns) + i128::try_from(duration.as_nanos()).ok()?;
        unix_ns.try_into().ok().map(Self::from_unix_ns)
    }

    /// So much earlier; `None` if there is no such time.
    pub fn checked_sub(self, duration: Duration) -> Option<Self> {
        let unix_ns = i128::from(self.unix_ns) - i128::try_from(duration.as_nanos()).ok()?;
        unix_ns.try_into().ok().map(Self::from_unix_ns)
    }
}

/// Year, month and day of the Gregorian calendar, by days since 1970-01-01. Counts from the 1st of
/// March of the year 0, so that the day that some years have more comes last.
fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_PER_ERA: i64 = 146_097; // 400 years
    const DAYS_TO_1970: i64 = 719_468;
    let days = days + DAYS_TO_1970;
    let (era, day) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153; // from March
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let year = year + 400 * era + i64::from(month >= 10);
    (year, if month < 10 { month + 3 } else { month - 9 }, day_of_month)
}

impl fmt::Display for UtcTime {
    /// RFC 3339 with nine decimals, or as many as the precision says.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(9).min(9);
        let (sec, ns) = (self.unix_ns.div_euclid(NS_PER_SEC), self.unix_ns.rem_euclid(NS_PER_SEC));
        let (year, month, day) = civil(sec.div_euclid(SEC_PER_DAY));
        let sec = sec.rem_euclid(SEC_PER_DAY);
        let (hour, minute, sec) = (sec / 3600, sec / 60 % 60, sec % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{sec:02}")?;
        if digits > 0 {
            let shown = ns / 10_i64.pow(9 - digits as u32);
            write!(f, ".{shown:0digits$}")?;
        }
        f.write_str("Z")
    }
}

impl Add<Duration> for UtcTime {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration).expect("a time of UTC between 1677 and 2262")
    }
}

impl Sub<Duration> for UtcTime {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        self.checked_sub(duration).expect("a time of UTC between 1677 and 2262")
    }
}

impl AddAssign<Duration> for UtcTime {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl SubAssign<Duration> for UtcTime {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

#[cfg(feature = "std")]
mod system_time {
    use super::UtcTime;
    use core::time::Duration;
    use std::time::{SystemTime, UNIX_EPOCH};

    impl From<UtcTime> for SystemTime {
        fn from(time: UtcTime) -> Self {
            let distance = Duration::from_nanos(time.unix_ns.unsigned_abs());
            if time.unix_ns < 0 {
                UNIX_EPOCH - distance
            } else {
                UNIX_EPOCH + distance
            }
        }
    }

    /// The system's time lies before 1677 or after 2262.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OutOfRange(());

    impl core::fmt::Display for OutOfRange {
        fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            f.write_str("a time before 1677 or after 2262 has no nanosecond in 64 bits")
        }
    }

    impl std::error::Error for OutOfRange {}

    impl TryFrom<SystemTime> for UtcTime {
        type Error = OutOfRange;

        fn try_from(time: SystemTime) -> Result<Self, OutOfRange> {
            let epoch = UtcTime::UNIX_EPOCH;
            match time.duration_since(UNIX_EPOCH) {
                Ok(after) => epoch.checked_add(after),
                Err(before) => epoch.checked_sub(before.duration()),
            }
            .ok_or(OutOfRange(()))
        }
    }
}

#[cfg(feature = "std")]
pub use system_time::OutOfRange;

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(unix_ns: i64) -> std::string::String {
        std::string::ToString::to_string(&UtcTime::from_unix_ns(unix_ns))
    }

    #[test]
    fn leap_days_and_ends() {
        assert_eq!(shown(0), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(shown(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(shown(951_782_400 * NS_PER_SEC), "2000-02-29T00:00:00.000000000Z");
        assert_eq!(shown(4_107_542_400 * NS_PER_SEC), "2100-03-01T00:00:00.000000000Z");
        assert_eq!(shown(i64::MAX), "2262-04-11T23:47:16.854775807Z");
        assert_eq!(shown(i64::MIN), "1677-09-21T00:12:43.145224192Z");
    }

    #[test]
    fn durations_do_not_wrap() {
        let (first, last) = (UtcTime::from_unix_ns(i64::MIN), UtcTime::from_unix_ns(i64::MAX));
        assert_eq!(last.saturating_duration_since(first).as_nanos(), u128::from(u64::MAX));
        assert_eq!(first.saturating_duration_since(last), Duration::ZERO);
        assert_eq!(first + Duration::from_nanos(u64::MAX), last);
        assert_eq!(last.checked_add(Duration::from_nanos(1)), None);
        assert_eq!(first.checked_sub(Duration::MAX), None);
    }
}
