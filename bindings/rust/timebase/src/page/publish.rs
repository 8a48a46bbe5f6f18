// SPDX-License-Identifier: MIT
//! The writer's side. One writer at a time is the caller's duty: in this crate, whoever has the
//! lock of a mirror.

#![cfg_attr(not(any(test, feature = "std")), allow(dead_code))]

use super::{CopyWords, Line, LineWords, Lines, Page, Validity, ValidityWords, MAGIC, VERSION};
use crate::word::fence;
use crate::CounterId;
use core::sync::atomic::Ordering;

/// refresh_ticks must leave room for a tick before `after` to look huge.
const REFRESH_MAX: u64 = 1 << 62;

impl LineWords {
    fn store(&self, line: &Line) {
        self.start_ticks.store(line.start_ticks);
        self.mono_ns.store(line.mono_ns);
        self.utc_ns.store(line.utc_ns);
        self.period_frac.store(line.period_frac);
        self.period_ns.store(line.period_ns);
        self.flags.store(line.flags);
        self.maxerror_ns.store(line.maxerror_ns);
        self.drift_rate.store(line.drift_rate);
        self.slew_rate.store(line.slew_rate);
        self.utc_maxerror_ns.store(line.utc_maxerror_ns);
    }

    fn load(&self) -> Line {
        Line {
            start_ticks: self.start_ticks.load(),
            mono_ns: self.mono_ns.load(),
            utc_ns: self.utc_ns.load(),
            period_frac: self.period_frac.load(),
            period_ns: self.period_ns.load(),
            flags: self.flags.load(),
            maxerror_ns: self.maxerror_ns.load(),
            drift_rate: self.drift_rate.load(),
            slew_rate: self.slew_rate.load(),
            utc_maxerror_ns: self.utc_maxerror_ns.load(),
        }
    }
}

impl ValidityWords {
    fn store(&self, validity: &Validity) {
        self.silent_ticks.store(validity.silent_ticks);
        self.void_ticks.store(validity.void_ticks);
        self.before_esterror_ns.store(validity.before_esterror_ns);
        self.slew_esterror_ns.store(validity.slew_esterror_ns);
        self.after_esterror_ns.store(validity.after_esterror_ns);
        self.esterror_rate.store(validity.esterror_rate);
    }

    fn load(&self) -> Validity {
        Validity {
            silent_ticks: self.silent_ticks.load(),
            void_ticks: self.void_ticks.load(),
            before_esterror_ns: self.before_esterror_ns.load(),
            slew_esterror_ns: self.slew_esterror_ns.load(),
            after_esterror_ns: self.after_esterror_ns.load(),
            esterror_rate: self.esterror_rate.load(),
        }
    }
}

impl CopyWords {
    fn store(&self, lines: &Lines) {
        self.before.store(&lines.before);
        self.slew.store(&lines.slew);
        self.after.store(&lines.after);
        self.validity.store(&lines.validity);
    }

    pub(super) fn load(&self) -> Lines {
        Lines {
            before: self.before.load(),
            slew: self.slew.load(),
            after: self.after.load(),
            validity: self.validity.load(),
        }
    }
}

/// The refresh_ticks that stands in the page while the number changes: no larger than a or b, nor
/// than any word that a 32-bit machine reads as one half of it and one half of a or b.
fn refresh_between(a: u64, b: u64) -> u64 {
    let high = ((a >> 32) as u32).min((b >> 32) as u32);
    u64::from(high) << 32 | u64::from((a as u32).min(b as u32))
}

impl Page {
    /// A page without lines.
    pub(crate) fn begin(counter: CounterId) -> Self {
        let page = Self::default();
        page.magic.store(MAGIC);
        page.size.store(Self::SIZE as u32);
        page.version.store(VERSION);
        page.counter_id.store(counter as u32);
        page
    }

    /// These lines alone, for a conversion.
    pub(crate) fn of(lines: &Lines) -> Self {
        let page = Self::begin(crate::arch::COUNTER);
        page.publish(lines, 0);
        page
    }

    /// Makes the lines the ones that readers follow.
    pub(crate) fn publish(&self, lines: &Lines, refresh_ticks: u64) {
        let seq = self.seq.load().wrapping_add(1);
        let present = self.refresh_ticks.load();
        let refresh = refresh_ticks.min(REFRESH_MAX);
        // (B): a reader still in this copy, which it entered two numbers ago, must find out.
        fence(Ordering::Release);
        self.copy_of(seq as usize).store(lines);
        self.refresh_ticks.store(refresh_between(present, refresh));
        self.seq.store_seq(seq); // (D)
        self.refresh_ticks.store_release(refresh); // (E)
                                                   // 32-bit readers take the lower half alone; 0 there says "no lines": go past it at once.
        if seq as u32 == 0 {
            self.publish(lines, refresh_ticks);
        }
    }

    /// All 64 bits of the number, of a page that nobody else writes.
    pub(crate) fn seq_whole(&self) -> u64 {
        self.seq.load()
    }

    /// A consistent copy of the lines, and of when they want renewal; `None` if there are none.
    pub(crate) fn read_back(&self) -> Option<(Lines, u64)> {
        self.consistently(|copy| (copy.load(), self.refresh_ticks.load()))
    }
}
