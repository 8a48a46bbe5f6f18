// SPDX-License-Identifier: MIT
//! Is this memory a page? Never trusts what it reads.

use super::{CopyWords, LineWords, Page, ValidityWords, MAGIC, NEVER, VERSION};
use crate::word::fence;
use crate::Error;
use core::sync::atomic::Ordering;

/// Slowest counter: 1 MHz.
const PERIOD_MAX_NS: u32 = 1000;
/// Two of these and the growth that one rate can cause do not overflow 64 bits: a sum of errors
/// never looks small.
const ERROR_MAX_NS: u64 = 1 << 62;
const STATUS_MAX: u32 = 4;
/// Features that this reader handles: none.
const UNDERSTOOD: u32 = 0;

impl LineWords {
    fn is_line(&self) -> bool {
        let period_ns = self.period_ns.load();
        (period_ns > 0 || self.period_frac.load() > 0)
            && period_ns <= PERIOD_MAX_NS
            && self.flags.load() & crate::Status::MASK <= STATUS_MAX
            && self.mono_ns.load() as i64 >= 0
            && self.maxerror_ns.load() <= ERROR_MAX_NS
            && self.utc_maxerror_ns.load() <= ERROR_MAX_NS
    }
}

impl ValidityWords {
    /// Lines must not be silent while they are current: readers of now look at refresh_ticks alone.
    fn is_validity(&self, refresh_ticks: u64) -> bool {
        let (silent, void) = (self.silent_ticks.load(), self.void_ticks.load());
        refresh_ticks < silent
            && silent <= void
            && void <= NEVER
            && self.before_esterror_ns.load() <= ERROR_MAX_NS
            && self.slew_esterror_ns.load() <= ERROR_MAX_NS
            && self.after_esterror_ns.load() <= ERROR_MAX_NS
    }
}

impl CopyWords {
    fn are_in_order(&self) -> bool {
        let (before, slew, after) = (
            self.before.start_ticks.load(),
            self.slew.start_ticks.load(),
            self.after.start_ticks.load(),
        );
        slew.wrapping_sub(before) as i64 >= 0 && after.wrapping_sub(slew) as i64 >= 0
    }

    fn are_lines(&self, refresh_ticks: u64) -> bool {
        self.before.is_line()
            && self.slew.is_line()
            && self.after.is_line()
            && self.are_in_order()
            && self.validity.is_validity(refresh_ticks)
    }
}

impl Page {
    /// Is this a page that this library can read? Looks at magic, size, version, features, and the
    /// ranges of the lines. [`Error::Format`], [`Error::Unsupported`] for a feature that this
    /// library does not know, [`Error::Stale`] if there are no lines yet, [`Error::Torn`] if it
    /// changed meanwhile.
    pub fn validate(&self) -> Result<(), Error> {
        if self.magic.load() != MAGIC
            || self.size.load() != Self::SIZE as u32
            || self.version.load() != VERSION
        {
            return Err(Error::Format);
        }
        if self.incompatible.load() & !UNDERSTOOD != 0 {
            return Err(Error::Unsupported);
        }
        let seq = self.seq.load_seq(Ordering::Acquire);
        if seq == 0 {
            return Err(Error::Stale);
        }
        let is_good = self.copy_of(seq as usize).are_lines(self.refresh_ticks.load());
        fence(Ordering::Acquire);
        if self.seq.load_seq(Ordering::Relaxed) != seq {
            return Err(Error::Torn);
        }
        if is_good {
            Ok(())
        } else {
            Err(Error::Format)
        }
    }
}
