// SPDX-License-Identifier: MIT
//! Ticks of another moment.

use super::{flags_at, growth, CopyWords, LineWords, Page};
use crate::reading::{Flags, Reading};
use crate::word::fence;
use core::sync::atomic::Ordering;

/// A publication takes longer than a conversion: even a few attempts in a row never fail.
const ATTEMPTS_MAX: usize = 1000;

impl CopyWords {
    /// The line in whose span a tick lies; `before` has no beginning.
    fn line_for(&self, ticks: u64) -> &LineWords {
        let has_begun = |line: &LineWords| ticks.wrapping_sub(line.start_ticks.load()) as i64 >= 0;
        if has_begun(&self.after) {
            &self.after
        } else if has_begun(&self.slew) {
            &self.slew
        } else {
            &self.before
        }
    }

    fn flags_at(&self, ticks: u64, flags: Flags) -> Flags {
        let d = ticks.wrapping_sub(self.after.start_ticks.load());
        if (d as i64) < 0 {
            return flags;
        }
        let validity = &self.validity;
        flags_at(d, validity.silent_ticks.load(), validity.void_ticks.load(), flags)
    }

    pub(super) fn at(&self, ticks: u64) -> Reading {
        let line = self.line_for(ticks);
        let d = ticks.wrapping_sub(line.start_ticks.load());
        let is_back = (d as i64) < 0 && core::ptr::eq(line, &self.before);
        let mut reading = if is_back { line.at_back(d.wrapping_neg()) } else { line.at(d) };
        reading.ticks = ticks;
        reading.esterror_ns = self.esterror_ns(line, if is_back { d.wrapping_neg() } else { d });
        reading.flags = self.flags_at(ticks, reading.flags);
        reading
    }
}

impl LineWords {
    /// All that the line alone says, d ticks from its start.
    fn at(&self, d: u64) -> Reading {
        let elapsed = self.elapsed(d);
        Reading {
            ticks: 0,
            mono_ns: self.mono_ns(elapsed),
            utc_ns: self.utc_ns(elapsed),
            maxerror_ns: self.maxerror_ns(d),
            utc_maxerror_ns: self.utc_maxerror_ns(d),
            esterror_ns: 0,
            flags: self.flags(),
        }
    }

    /// Draws the line backwards: rounds down there too; the bound grows with the distance.
    fn at_back(&self, back: u64) -> Reading {
        let product = u128::from(back) * u128::from(self.period_frac.load());
        let distance = back
            .wrapping_mul(u64::from(self.period_ns.load()))
            .wrapping_add((product >> 64) as u64)
            .wrapping_add(u64::from(product as u64 != 0));
        let drift = growth(back, self.drift_rate.load());
        let slew = growth(back, self.slew_rate.load());
        let mut reading = self.at(0);
        reading.mono_ns = reading.mono_ns.wrapping_sub(distance as i64);
        reading.utc_ns = reading.utc_ns.wrapping_sub(distance as i64);
        reading.maxerror_ns = reading.maxerror_ns.wrapping_add(drift).wrapping_add(slew);
        reading.utc_maxerror_ns = reading.utc_maxerror_ns.wrapping_add(drift);
        reading
    }
}

impl Page {
    /// Repeats until no publication falls between the two looks at seq.
    pub(super) fn consistently<T>(&self, look: impl Fn(&CopyWords) -> T) -> Option<T> {
        for _ in 0..ATTEMPTS_MAX {
            let seq = self.seq.load_seq(Ordering::Acquire);
            if seq == 0 {
                return None;
            }
            let seen = look(self.copy_of(seq as usize));
            fence(Ordering::Acquire);
            if self.seq.load_seq(Ordering::Relaxed) == seq {
                return Some(seen);
            }
        }
        None
    }

    /// Converts a tick read earlier, or one to come, by the lines of the page, however far from
    /// them. The bound grows with the distance, and the status tells where the page has expired.
    #[inline]
    pub fn at(&self, ticks: u64) -> Option<Reading> {
        self.consistently(|copy| copy.at(ticks))
    }

    /// The first tick at which monotonic time is `target_ns` or later. Targets out of reach (73
    /// years or more, or 29 at 5 GHz) give the first or last tick of the range.
    pub fn ticks_at_mono(&self, target_ns: i64) -> Option<u64> {
        self.consistently(|copy| copy.first_tick(target_ns, false))
    }

    /// The same of UTC. Of a UTC that was shown twice, because it was stepped back, either tick may
    /// be meant.
    pub fn ticks_at_utc(&self, target_ns: i64) -> Option<u64> {
        self.consistently(|copy| copy.first_tick(target_ns, true))
    }
}
