// SPDX-License-Identifier: MIT
//! Reading now: one attempt, no loop, and nothing of a torn copy is used.

use super::{growth, lines::multiply_high, CopyWords, LineWords, Page};
use crate::reading::{tai_from_utc, Flags, Reading, Status};
use crate::word::fence;
use crate::{arch, Interval};
use core::sync::atomic::Ordering;

impl LineWords {
    /// What d ticks of the line last, ns rounded down. Counters of more than 1 GHz go without the
    /// second product; `late` keeps the compiler from working it out for them all the same.
    #[inline(always)]
    pub(super) fn elapsed(&self, d: u64) -> u64 {
        let ns = multiply_high(d, self.period_frac.load());
        let period_ns = self.period_ns.load();
        if period_ns == 0 {
            return ns;
        }
        ns.wrapping_add(d.wrapping_mul(arch::late(period_ns as usize) as u64))
    }

    #[inline(always)]
    pub(super) fn mono_ns(&self, elapsed: u64) -> i64 {
        self.mono_ns.load().wrapping_add(elapsed) as i64
    }

    #[inline(always)]
    pub(super) fn utc_ns(&self, elapsed: u64) -> i64 {
        self.utc_ns.load().wrapping_add(elapsed) as i64
    }

    #[inline(always)]
    pub(super) fn flags(&self) -> Flags {
        Flags(self.flags.load())
    }

    /// Both bounds without what the slew of the reference adds to one, and the reference to the
    /// other.
    #[inline(always)]
    fn error(&self, d: u64) -> u64 {
        self.maxerror_ns.load().wrapping_add(growth(d, self.drift_rate.load()))
    }

    #[inline(always)]
    pub(super) fn maxerror_ns(&self, d: u64) -> u64 {
        self.error(d).wrapping_add(growth(d, self.slew_rate.load()))
    }

    #[inline(always)]
    pub(super) fn utc_maxerror_ns(&self, d: u64) -> u64 {
        self.error(d).wrapping_add(self.utc_maxerror_ns.load())
    }
}

impl CopyWords {
    /// The line for a tick that has just been read, and the ticks since its start; `None` when the
    /// tick asks for renewal, or is older than the page (the counter went back). In quiet times one
    /// comparison decides: a tick before `after` makes d huge.
    #[inline(always)]
    fn line_now(&self, ticks: u64, refresh_ticks: u64) -> Option<(&LineWords, u64)> {
        let d = ticks.wrapping_sub(self.after.start_ticks.load());
        if d <= refresh_ticks {
            return Some((&self.after, d));
        }
        self.line_now_earlier(ticks, d)
    }

    #[inline(always)]
    fn line_now_earlier(&self, ticks: u64, d: u64) -> Option<(&LineWords, u64)> {
        if d as i64 >= 0 {
            return None;
        }
        for line in [&self.slew, &self.before] {
            let d = ticks.wrapping_sub(line.start_ticks.load());
            if d as i64 >= 0 {
                return Some((line, d));
            }
        }
        None
    }

    /// The estimated error of one of the lines, d ticks from its start.
    #[inline(always)]
    pub(super) fn esterror_ns(&self, line: &LineWords, d: u64) -> u64 {
        let validity = &self.validity;
        let start_ns = if core::ptr::eq(line, &self.after) {
            &validity.after_esterror_ns
        } else if core::ptr::eq(line, &self.slew) {
            &validity.slew_esterror_ns
        } else {
            &validity.before_esterror_ns
        };
        start_ns.load().wrapping_add(growth(d, validity.esterror_rate.load()))
    }
}

impl Page {
    /// Reads the counter and converts it. `None`: no line for now, or a publication fell between
    /// the two looks at seq.
    #[inline(always)]
    fn read<const ORDERED: bool, T>(
        &self,
        convert: impl FnOnce(&CopyWords, &LineWords, u64, u64) -> T,
    ) -> Option<T> {
        let seq = self.seq.load_seq(Ordering::Acquire); // (A)
        if seq == 0 {
            return None;
        }
        let (ticks, copy);
        if ORDERED {
            ticks = arch::ticks_ordered();
            copy = self.copy_of(arch::late(seq as usize));
        } else {
            ticks = arch::ticks();
            copy = self.copy_of(seq as usize);
        }
        self.accept(seq, copy, ticks, convert)
    }

    #[inline(always)]
    fn accept<T>(
        &self,
        seq: u64,
        copy: &CopyWords,
        ticks: u64,
        convert: impl FnOnce(&CopyWords, &LineWords, u64, u64) -> T,
    ) -> Option<T> {
        let (line, d) = copy.line_now(ticks, self.refresh_ticks.load())?;
        let converted = convert(copy, line, d, ticks);
        fence(Ordering::Acquire); // (C)
        (self.seq.load_seq(Ordering::Relaxed) == seq).then_some(converted)
    }

    /// What a reader of now gets whose counter shows this tick: for simulations and tests.
    pub fn now_by(&self, ticks: u64) -> Option<Reading> {
        self.now_at(|| ticks)
    }

    /// As [`now`](Self::now), by another counter, read after the load of seq.
    pub(crate) fn now_at(&self, read_ticks: impl FnOnce() -> u64) -> Option<Reading> {
        let seq = self.seq.load_seq(Ordering::Acquire);
        if seq == 0 {
            return None;
        }
        let ticks = read_ticks();
        self.accept(seq, self.copy_of(seq as usize), ticks, everything)
    }

    /// One tick, and everything it says. Ordered after all earlier loads.
    #[inline]
    pub fn now(&self) -> Option<Reading> {
        self.read::<true, _>(everything)
    }

    /// Nanoseconds since 1970-01-01 UTC, ordered after all earlier loads.
    #[inline]
    pub fn utc_ns(&self) -> Option<i64> {
        self.read::<true, _>(|_, line, d, _| line.utc_ns(line.elapsed(d)))
    }

    /// The same, by the cheapest read, which orders nothing.
    #[inline]
    pub fn utc_ns_unordered(&self) -> Option<i64> {
        self.read::<false, _>(|_, line, d, _| line.utc_ns(line.elapsed(d)))
    }

    /// Nanoseconds since boot, ordered after all earlier loads.
    #[inline]
    pub fn mono_ns(&self) -> Option<i64> {
        self.read::<true, _>(|_, line, d, _| line.mono_ns(line.elapsed(d)))
    }

    /// The same, by the cheapest read, which orders nothing.
    #[inline]
    pub fn mono_ns_unordered(&self) -> Option<i64> {
        self.read::<false, _>(|_, line, d, _| line.mono_ns(line.elapsed(d)))
    }

    /// Nanoseconds since 1970-01-01 TAI, ordered after all earlier loads.
    #[inline]
    pub fn tai_ns(&self) -> Option<i64> {
        self.read::<true, _>(|_, line, d, _| tai_ns(line, d))
    }

    /// The same, by the cheapest read, which orders nothing.
    #[inline]
    pub fn tai_ns_unordered(&self) -> Option<i64> {
        self.read::<false, _>(|_, line, d, _| tai_ns(line, d))
    }

    /// Where true UTC is, and what that is worth.
    #[inline]
    pub fn utc_interval(&self) -> Option<(Interval, Status)> {
        self.read::<true, _>(|_, line, d, _| {
            let utc_ns = line.utc_ns(line.elapsed(d));
            let around = Interval::around(utc_ns, line.utc_maxerror_ns(d));
            (around, line.flags().status())
        })
    }

    /// Where `CLOCK_REALTIME` is, and what that is worth.
    #[inline]
    pub fn realtime_interval(&self) -> Option<(Interval, Status)> {
        self.read::<true, _>(|_, line, d, _| {
            let utc_ns = line.utc_ns(line.elapsed(d));
            let around = Interval::around(utc_ns, line.maxerror_ns(d));
            (around, line.flags().status())
        })
    }
}

#[inline(always)]
fn tai_ns(line: &LineWords, d: u64) -> i64 {
    tai_from_utc(line.utc_ns(line.elapsed(d)), line.flags())
}

#[inline(always)]
fn everything(copy: &CopyWords, line: &LineWords, d: u64, ticks: u64) -> Reading {
    let elapsed = line.elapsed(d);
    Reading {
        ticks,
        mono_ns: line.mono_ns(elapsed),
        utc_ns: line.utc_ns(elapsed),
        maxerror_ns: line.maxerror_ns(d),
        utc_maxerror_ns: line.utc_maxerror_ns(d),
        esterror_ns: copy.esterror_ns(line, d),
        flags: line.flags(),
    }
}
