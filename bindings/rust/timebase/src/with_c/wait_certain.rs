// SPDX-License-Identifier: MIT
//! Waiting until something is certain: commit-wait. By the C library's clocks through it; the
//! others have no such wait.

use crate::{Clock, Error, Instant, Interval};
use timebase_sys as sys;

/// No deadline.
const FOR_EVER: i64 = i64::MAX;

impl Clock {
    /// Waits until the bound of true UTC is at most `maxerror_ns`, and a promise. Gives the
    /// interval that was last seen.
    ///
    /// [`Error::Timeout`] if the deadline passed with a wider bound, [`Error::Stale`] if nobody
    /// promised anything, [`Error::Estimate`] at once if the bound is an estimate: so it always is
    /// with the process' own clock, which has the kernel's word alone.
    pub fn wait_bound(
        &self,
        maxerror_ns: u64,
        deadline: Option<Instant>,
    ) -> Result<Interval, Error> {
        let clock = self.handle().ok_or(Error::Unsupported)?.as_ptr();
        let deadline_ns = deadline.map_or(FOR_EVER, Instant::mono_ns);
        let mut seen = sys::timebase_interval { earliest_ns: 0, latest_ns: 0 };
        // SAFETY: a valid clock, and room for the interval.
        Error::check(unsafe {
            sys::timebase_clock_wait_bound(clock, maxerror_ns, deadline_ns, &mut seen)
        })?;
        Ok(Interval { earliest_ns: seen.earliest_ns, latest_ns: seen.latest_ns })
    }

    /// Waits until true UTC is certainly later than `utc_ns`. Errors as above.
    pub fn wait_after(&self, utc_ns: i64, deadline: Option<Instant>) -> Result<(), Error> {
        let clock = self.handle().ok_or(Error::Unsupported)?.as_ptr();
        let deadline_ns = deadline.map_or(FOR_EVER, Instant::mono_ns);
        // SAFETY: a valid clock.
        Error::check(unsafe { sys::timebase_clock_wait_after(clock, utc_ns, deadline_ns) })
            .map(drop)
    }
}
