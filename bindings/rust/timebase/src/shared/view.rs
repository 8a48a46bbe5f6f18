// SPDX-License-Identifier: MIT
//! What an attached reader shows of the lines that it has copied: one line at a time, as `after`,
//! until the next one begins or the lease ends, so that the readers' one comparison sends them to
//! the slow path in time. Pure: no I/O, no clock is read.
//!
//! ```text
//! copied   before ───┐ slew ─────┐ after ──────────►
//! shown          [===|===] [=====|===] [===] [===]      each no longer than a lease
//! ```

use crate::page::{flags_at, Line, Lines, NEVER};
use crate::reading::Flags;
use crate::{Page, Reading, Status};

/// A slew brings 1 ns in 2,000: 500 ppm. So does a bridge.
const SLEW_DIVISOR: u128 = 2000;
/// A larger gap than this comes from a fault: such a bridge runs at half the pace.
const SLEW_MAX_NS: u64 = 1_000_000;
const FAST_DIVISOR: u128 = 2;
/// A bound grows by drift and by slews, each rounded down: in two pieces by 2 ns less than in one.
const ROUNDED_NS: u64 = 2;
/// A writer that wants renewal later than this is not waited for.
const HORIZON_MAX_NS: u64 = 4_000_000_000;

impl Lines {
    pub(super) fn at(&self, ticks: u64) -> Reading {
        // A page that has just been published has a consistent copy.
        Page::of(self).at(ticks).unwrap_or(Reading::unknown(ticks))
    }

    /// ns in so many ticks after the lines, 0 if they are negative.
    pub(super) fn elapsed_ns(&self, ticks: u64) -> u64 {
        if (ticks as i64) < 0 {
            return 0;
        }
        let ns = u128::from(ticks) * u128::from(self.after.period_ns)
            + ((u128::from(ticks) * u128::from(self.after.period_frac)) >> 64);
        ns as u64
    }

    /// Whole ticks in ns, for ns below 2^32.
    pub(super) fn ticks(&self, ns: u64) -> u64 {
        let length = (self.after.period() >> 32) as u64;
        (ns << 32) / length.max(1)
    }

    pub(super) fn line_at(&self, ticks: u64) -> &Line {
        if self.after.has_begun(ticks) {
            &self.after
        } else if self.slew.has_begun(ticks) {
            &self.slew
        } else {
            &self.before
        }
    }

    fn show_slew_as_after(&mut self) {
        self.after = self.slew;
        self.slew = self.before;
        self.validity.after_esterror_ns = self.validity.slew_esterror_ns;
        self.validity.slew_esterror_ns = self.validity.before_esterror_ns;
    }

    /// When the lines want renewal.
    pub(super) fn due_ticks(&self, refresh_ticks: u64) -> u64 {
        let horizon = refresh_ticks.min(self.ticks(HORIZON_MAX_NS));
        self.after.start_ticks.wrapping_add(horizon)
    }

    /// Do they say nothing of this tick by themselves: due by then, or before them?
    pub(super) fn leave_out(&self, refresh_ticks: u64, now_ticks: u64) -> bool {
        let overdue = now_ticks.wrapping_sub(self.due_ticks(refresh_ticks));
        !self.before.has_begun(now_ticks) || overdue as i64 >= 0
    }

    /// The kernel has thrown the counter away: what it shows by now, no line of a while ago can know.
    pub(super) fn is_distrusted(&self) -> bool {
        Flags(self.after.flags).is_counter_distrusted()
    }

    /// Have they to be held against the kernel's clocks?
    pub(super) fn is_doubtful(&self, refresh_ticks: u64, now_ticks: u64) -> bool {
        self.leave_out(refresh_ticks, now_ticks) || self.is_distrusted()
    }

    /// Gives the lines the status that they have at this tick by their own expiry.
    pub(super) fn silence(&mut self, now_ticks: u64) {
        let d = now_ticks.wrapping_sub(self.after.start_ticks);
        let (silent, void) = (self.validity.silent_ticks, self.validity.void_ticks);
        for line in [&mut self.before, &mut self.slew, &mut self.after] {
            line.flags = flags_at(d, silent, void, Flags(line.flags)).0;
        }
    }

    pub(super) fn map_status(&mut self, status: impl Fn(Status) -> Status) {
        for line in [&mut self.before, &mut self.slew, &mut self.after] {
            let flags = Flags(line.flags);
            line.flags = flags.with_status(status(flags.status())).0;
        }
    }
}

impl Reading {
    /// Monotonic time no later than this: it stands still, and the bounds say by how much.
    pub(super) fn held_below(mut self, most_ns: i64) -> Self {
        let Ok(above_ns) = u64::try_from(self.mono_ns.saturating_sub(most_ns)) else {
            return self;
        };
        self.mono_ns -= above_ns as i64;
        self.utc_ns = self.utc_ns.saturating_sub(above_ns as i64);
        for error_ns in [&mut self.maxerror_ns, &mut self.utc_maxerror_ns, &mut self.esterror_ns] {
            *error_ns = error_ns.saturating_add(above_ns);
        }
        self
    }
}

pub(super) struct View {
    pub(super) lines: Lines,
    pub(super) refresh_ticks: u64,
}

impl View {
    /// The view of lines that were copied no earlier than at `now_ticks`, for a lease from then.
    pub(super) fn at(lines: &Lines, now_ticks: u64) -> Self {
        let mut shown = *lines;
        let mut end = now_ticks.wrapping_add(lines.ticks(Page::LEASE_NS));
        for next in [lines.after, lines.slew] {
            if !next.has_begun(now_ticks) {
                end = earlier(end, next.start_ticks.wrapping_sub(1));
                shown.show_slew_as_after();
            }
        }
        let refresh_ticks =
            if shown.after.has_begun(end) { end.wrapping_sub(shown.after.start_ticks) } else { 0 };
        Self { lines: shown, refresh_ticks }.expiring_as(lines)
    }

    /// The view where the lines lie below what was shown (`old` up to `start_ticks`, `floor_ns`
    /// there): a bridge from there on, slower, until they have overtaken it.
    fn join(lines: &Lines, old: &Line, start_ticks: u64, floor_ns: i64) -> Self {
        let under = *lines.line_at(start_ticks);
        let there = lines.at(start_ticks);
        let gap_ns = floor_ns.wrapping_sub(there.mono_ns) as u64;
        let divisor = if gap_ns <= SLEW_MAX_NS { SLEW_DIVISOR } else { FAST_DIVISOR };
        let period = under.period() - under.period() / divisor;
        let is_same = old.utc_offset_ns() == under.utc_offset_ns();
        let bridge = Line {
            start_ticks,
            mono_ns: floor_ns as u64,
            utc_ns: (there.utc_ns as u64).wrapping_add(if is_same { gap_ns } else { 0 }),
            period_ns: (period >> 64) as u32,
            period_frac: period as u64,
            maxerror_ns: there.maxerror_ns.wrapping_add(gap_ns).wrapping_add(ROUNDED_NS),
            ..under
        };
        // Up to the bridge the old line is as far ahead, more than its writer knew.
        let mut old = *old;
        old.maxerror_ns = old.maxerror_ns.wrapping_add(gap_ns);
        let mut validity = lines.validity;
        validity.before_esterror_ns = validity.before_esterror_ns.wrapping_add(gap_ns);
        validity.slew_esterror_ns = validity.slew_esterror_ns.wrapping_add(gap_ns);
        validity.after_esterror_ns = there.esterror_ns.wrapping_add(gap_ns);
        let overtaken_ns = u128::from(gap_ns) * divisor;
        let refresh_ticks = lines.ticks(overtaken_ns.min(u128::from(Page::LEASE_NS)) as u64);
        let joined = Lines { before: old, slew: old, after: bridge, validity };
        Self { lines: joined, refresh_ticks }.expiring_as(lines)
    }

    /// What takes the place of a view that has come to its end, where `old` has told `floor_ns` at
    /// `start_ticks`: the view of the lines; or if they lie lower there, and then it is true, a bridge.
    pub(super) fn above(
        lines: &Lines,
        old: &Line,
        start_ticks: u64,
        floor_ns: i64,
        now_ticks: u64,
    ) -> (Self, bool) {
        if lines.at(start_ticks).mono_ns < floor_ns {
            (Self::join(lines, old, start_ticks, floor_ns), true)
        } else {
            (Self::at(lines, now_ticks), false)
        }
    }

    /// The expiry of `lines`, for a view of them. Lines that expire within its lease do so at its
    /// end, because a page is not silent before it wants renewal.
    fn expiring_as(mut self, lines: &Lines) -> Self {
        let by = lines.after.start_ticks.wrapping_sub(self.lines.after.start_ticks) as i64;
        let least = self.refresh_ticks + 1;
        self.lines.validity.silent_ticks = moved(lines.validity.silent_ticks, by, least);
        self.lines.validity.void_ticks = moved(lines.validity.void_ticks, by, least);
        self
    }

    /// The last tick that is shown.
    pub(super) fn end(&self) -> u64 {
        self.lines.after.start_ticks.wrapping_add(self.refresh_ticks)
    }
}

fn earlier(a: u64, b: u64) -> u64 {
    if (a.wrapping_sub(b) as i64) < 0 {
        a
    } else {
        b
    }
}

/// Ticks after one start of a line as ticks after another, `by` earlier or (negative) later.
fn moved(ticks: u64, by: i64, least: u64) -> u64 {
    if ticks == NEVER {
        return ticks;
    }
    ticks.saturating_add_signed(by).clamp(least, NEVER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Validity;

    fn line(start_ticks: u64, mono_ns: u64) -> Line {
        Line {
            start_ticks,
            mono_ns,
            utc_ns: mono_ns + 1_000_000_000_000,
            period_frac: 1 << 63, // 2 GHz
            flags: SYNCHRONIZED,
            ..Line::default()
        }
    }

    const SYNCHRONIZED: u32 = 2;

    fn lines() -> Lines {
        Lines {
            before: line(0, 0),
            slew: line(100_000_000, 50_000_000),
            after: line(200_000_000, 100_000_000),
            validity: Validity { silent_ticks: 1 << 40, void_ticks: NEVER, ..Validity::default() },
        }
    }

    #[test]
    fn one_line_at_a_time_and_no_longer_than_a_lease() {
        let lines = lines();
        let lease = lines.ticks(Page::LEASE_NS);
        let early = View::at(&lines, 10);
        assert_eq!(early.lines.after, lines.before);
        assert_eq!(early.end(), 10 + lease);
        let close = View::at(&lines, 99_999_990);
        assert_eq!(close.lines.after, lines.before);
        assert_eq!(close.end(), 99_999_999);
        let last = View::at(&lines, 300_000_000);
        assert_eq!(last.lines.after, lines.after);
        assert_eq!(last.end(), 300_000_000 + lease);
        assert_eq!(last.lines.validity.void_ticks, NEVER);
    }

    #[test]
    fn a_bridge_never_goes_back_and_ends_on_the_lines() {
        let lines = lines();
        for gap in [1u64, 1_000, 999_999, 5_000_000] {
            let start = 250_000_000;
            let floor = lines.at(start).mono_ns + gap as i64;
            let view = View::join(&lines, &lines.after, start, floor);
            assert_eq!(view.lines.at(start).mono_ns, floor);
            assert!(view.refresh_ticks <= lines.ticks(Page::LEASE_NS));
            let end = view.end();
            assert!(view.lines.at(end).mono_ns >= lines.at(end).mono_ns - 2);
            let bound_ns = lines.at(start).maxerror_ns + gap + ROUNDED_NS;
            assert_eq!(view.lines.at(start).maxerror_ns, bound_ns);
            assert!(view.lines.at(end).maxerror_ns >= bound_ns);
        }
    }

    #[test]
    fn silence_is_that_of_the_page() {
        let mut lines = lines();
        lines.validity.silent_ticks = 1000;
        lines.validity.void_ticks = 5000;
        let mut silent = lines;
        silent.silence(lines.after.start_ticks + 1000);
        assert_eq!(silent.after.flags & 15, 3);
        silent.silence(lines.after.start_ticks + 5000);
        assert_eq!(silent.after.flags & 15, 0);
    }
}
