// SPDX-License-Identifier: MIT
//! The kernel's clocks beside the counter: is a page about this machine and this boot? And have
//! overdue lines parted from the clocks, because the machine slept?

use super::kernel_clock_ns;
use crate::counter::ticks_ordered;
use crate::page::{Line, Lines};
use crate::reading::Flags;
use crate::{CounterId, Error, Page, Reading, Status};
use rustix::time::ClockId;

/// Beyond the page's own bound: the writer has not seen a step of the system clock yet, or this
/// thread was held up between two looks.
const OPENING_TOLERANCE_NS: u64 = 100_000_000;
/// Of overdue lines: the looking itself, and the writer's own tolerance for a jump.
const PARTING_TOLERANCE_NS: u64 = 1_000_000;
/// What the kernel says of a clock that nobody disciplines.
const UNSYNCHRONIZED_NS: u64 = 16_000_000_000;

/// What the clocks say of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Agree,
    /// But the kernel distrusts the counter.
    Distrusted,
    /// They are further from the clocks than their bound and slewing explain.
    Parted,
}

/// The smallest difference that the counter shows, a median of 9, so that no interruption decides; where
/// a read takes longer than a step, what a read takes.
fn counter_step() -> u64 {
    const READS: usize = 5000;
    let mut steps = [0u64; 9];
    let (mut count, mut last) = (0, ticks_ordered());
    for _ in 0..READS {
        let now = ticks_ordered();
        let step = now.wrapping_sub(last);
        last = now;
        if step as i64 > 0 {
            steps[count] = step;
            count += 1;
        }
        if count == steps.len() {
            break;
        }
    }
    steps[..count].sort_unstable();
    steps[..count].get(count / 2).copied().unwrap_or(1)
}

#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) ticks_before: u64,
    ticks_after: u64,
    mono_ns: i64,
    utc_ns: i64,
    error_ns: u64,
}

impl Moment {
    /// `None` if the clocks cannot be read.
    pub(super) fn look() -> Option<Self> {
        let ticks_before = ticks_ordered();
        let mono_ns = kernel_clock_ns(ClockId::Monotonic);
        let utc_ns = kernel_clock_ns(ClockId::Realtime);
        let again_ns = kernel_clock_ns(ClockId::Monotonic);
        let moment = Self {
            ticks_before,
            ticks_after: ticks_ordered(),
            mono_ns,
            utc_ns,
            error_ns: again_ns.wrapping_sub(mono_ns) as u64,
        };
        (![mono_ns, utc_ns, again_ns].contains(&i64::MIN)).then_some(moment)
    }

    /// Are the lines further from the clocks than their bound and slewing explain?
    fn has_parted(&self, lines: &Lines, mono_offset_ns: i64) -> bool {
        let (before, after) = (lines.at(self.ticks_before), lines.at(self.ticks_after));
        let error_ns = after.maxerror_ns.saturating_add(PARTING_TOLERANCE_NS);
        let mono_ns = self.mono_ns.wrapping_sub(mono_offset_ns);
        is_outside(mono_ns, before.mono_ns, after.mono_ns, error_ns)
            || is_outside(self.utc_ns, before.utc_ns, after.utc_ns, error_ns)
    }

    /// Unless they agree, `lines()` serve.
    pub(super) fn judge(&self, lines: &Lines, mono_offset_ns: i64) -> Verdict {
        if self.has_parted(lines, mono_offset_ns) {
            Verdict::Parted
        } else if lines.is_distrusted() {
            Verdict::Distrusted
        } else {
            Verdict::Agree
        }
    }

    fn agrees_in_utc(&self, lines: &Lines) -> bool {
        let (before, after) = (lines.at(self.ticks_before), lines.at(self.ticks_after));
        !is_outside(self.utc_ns, before.utc_ns, after.utc_ns, after.maxerror_ns)
    }

    /// A line on the clocks for the time until the writer has seen them: at the pace of its lines,
    /// UNRELIABLE or still UNKNOWN, and no promise about true UTC. It never lies below the clocks.
    pub(super) fn lines(&self, lines: &Lines, mono_offset_ns: i64) -> Lines {
        self.lines_by(counter_step(), lines, mono_offset_ns)
    }

    /// A counter with steps may show a tick one step old, here and where the line is read.
    fn lines_by(&self, step_ticks: u64, lines: &Lines, mono_offset_ns: i64) -> Lines {
        let looking = self.ticks_after.wrapping_sub(self.ticks_before).wrapping_add(step_ticks);
        let maxerror_ns = lines.elapsed_ns(looking) + self.error_ns + 1;
        let flags = Flags(lines.after.flags);
        // Lines that have expired stay UNKNOWN.
        let is_unknown = flags.status() == Status::Unknown;
        let line = Line {
            start_ticks: self.ticks_before,
            mono_ns: self.mono_ns.wrapping_sub(mono_offset_ns) as u64,
            utc_ns: self.utc_ns as u64,
            flags: if is_unknown { flags } else { flags.with_status(Status::Unreliable) }.0,
            maxerror_ns,
            utc_maxerror_ns: UNSYNCHRONIZED_NS,
            ..lines.after
        };
        let mut validity = lines.validity;
        validity.before_esterror_ns = maxerror_ns;
        validity.slew_esterror_ns = maxerror_ns;
        validity.after_esterror_ns = maxerror_ns;
        Lines { before: line, slew: line, after: line, validity }
    }
}

/// Is ns outside [earliest − error, latest + error]? Differences wrap, and no sum overflows.
fn is_outside(ns: i64, earliest_ns: i64, latest_ns: i64, error_ns: u64) -> bool {
    let (below, above) = (earliest_ns.wrapping_sub(ns), ns.wrapping_sub(latest_ns));
    (below > 0 && below as u64 > error_ns) || (above > 0 && above as u64 > error_ns)
}

/// The cheap part: possible periods, this process' counter, and lines that have begun.
pub(super) fn check_lines(page: &Page, lines: &Lines) -> Result<(), Error> {
    // No counter ticks faster than 1 THz; and quotients by a period stay small.
    let is_possible = |line: &Line| line.period_ns > 0 || line.period_frac >> 54 != 0;
    if ![lines.before, lines.slew, lines.after].iter().all(is_possible) {
        return Err(Error::Format);
    }
    if page.counter_id() != Some(crate::counter_id()) {
        return Err(Error::Unsupported);
    }
    if !lines.before.has_begun(ticks_ordered()) {
        return Err(Error::Stale);
    }
    Ok(())
}

/// All of it, against the kernel's clocks. Gives CLOCK_MONOTONIC here − the page's.
pub(super) fn check_page(page: &Page, lines: &Lines) -> Result<i64, Error> {
    check_lines(page, lines)?;
    let moment = Moment::look().ok_or(Error::Reference)?;
    let now = lines.at(ticks_ordered());
    let error_ns = now.maxerror_ns.saturating_add(moment.error_ns);
    let utc_off_ns = moment.utc_ns.wrapping_sub(now.utc_ns);
    if !is_within(utc_off_ns, error_ns) {
        return Err(Error::Stale);
    }
    // A time namespace also shifts the OS clock that serves as the counter. Then UTC by such
    // ticks is off, perhaps by little, so no tolerance is added.
    if crate::counter_id() == CounterId::Os && !moment.agrees_in_utc(lines) {
        return Err(Error::Stale);
    }
    explain(&moment, &now, error_ns).ok_or(Error::Stale)
}

fn is_within(difference_ns: i64, error_ns: u64) -> bool {
    difference_ns.unsigned_abs() <= error_ns.saturating_add(OPENING_TOLERANCE_NS)
}

/// Does a time namespace explain a difference of monotonic time? Yes, if its offset says so. Where
/// the offset cannot be read, yes too: UTC agrees, so it is the same machine.
fn explain(moment: &Moment, now: &Reading, error_ns: u64) -> Option<i64> {
    let off_ns = moment.mono_ns.wrapping_sub(now.mono_ns);
    if off_ns.unsigned_abs() <= error_ns {
        return Some(0);
    }
    let Some(offset_ns) = namespace_offset_ns() else {
        return Some(if is_within(off_ns, error_ns) { 0 } else { off_ns });
    };
    let rest_ns = off_ns.wrapping_sub(offset_ns);
    if rest_ns.unsigned_abs() < off_ns.unsigned_abs() {
        return is_within(rest_ns, error_ns).then_some(offset_ns);
    }
    is_within(off_ns, error_ns).then_some(0) // the writer is in the same one
}

/// "monotonic <s> <ns>": CLOCK_MONOTONIC here − that of the first namespace. The file tells of the
/// children's namespace: ours is the same, or we do not know it.
fn namespace_offset_ns() -> Option<i64> {
    let own = std::fs::read_link("/proc/self/ns/time").ok()?;
    if own != std::fs::read_link("/proc/self/ns/time_for_children").ok()? {
        return None;
    }
    let text = std::fs::read_to_string("/proc/self/timens_offsets").ok()?;
    let mut words = text.lines().next()?.strip_prefix("monotonic")?.split_whitespace();
    let sec: i64 = words.next()?.parse().ok()?;
    let ns: i64 = words.next()?.parse().ok()?;
    sec.checked_mul(1_000_000_000)?.checked_add(ns)
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
