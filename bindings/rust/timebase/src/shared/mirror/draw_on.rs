// SPDX-License-Identifier: MIT
//! Reading without the lock, beyond the lease of what is shown.

use super::{Moment, SharedPage, Verdict, View};
use crate::counter::ticks_ordered;
use crate::page::Lines;
use crate::Reading;
use core::sync::atomic::Ordering;

/// Each is spoilt by a publication.
const DRAW_ATTEMPTS: usize = 1000;

impl SharedPage {
    /// Nobody could look again: the lines go on until they expire, or have parted from the kernel's
    /// clocks. Who renews them begins no lower, and stops who would be told more meanwhile.
    pub(super) fn draw_on(&self) -> Reading {
        for _ in 0..DRAW_ATTEMPTS {
            if let Some(reading) = self.current() {
                return reading;
            }
            let numbers = self.numbers();
            let reading = self.drawn();
            #[cfg(test)]
            super::tests::held_up("reader");
            match self.told.note(reading.mono_ns) {
                Err(most_ns) => return reading.held_below(most_ns),
                // They are still the lines that it was drawn by, and whoever replaces them has heard.
                Ok(()) if self.numbers() == numbers => return reading,
                Ok(()) => {}
            }
        }
        let _mirror = self.lock(); // never seen: now nobody else publishes
        let reading = self.current().unwrap_or_else(|| self.drawn());
        let _ = self.told.note(reading.mono_ns);
        reading
    }

    fn numbers(&self) -> (u64, u64) {
        (self.shown_page().seq_whole(), self.whole.seq_whole())
    }

    fn drawn(&self) -> Reading {
        let ticks = ticks_ordered();
        let Some((lines, refresh_ticks)) = self.whole.read_back() else {
            return Reading::unknown(ticks);
        };
        match self.parted(&lines, refresh_ticks, ticks) {
            Some(clocks) => self.above_all_told(clocks),
            None => lines.at(ticks),
        }
    }

    /// The kernel's time, if the lines have parted from it.
    fn parted(&self, lines: &Lines, refresh_ticks: u64, ticks: u64) -> Option<Reading> {
        if !lines.leave_out(refresh_ticks, ticks) {
            return None;
        }
        let offset_ns = self.mono_offset_ns.load(Ordering::Acquire);
        let moment = Moment::look()?;
        let has_parted = moment.judge(lines, offset_ns) == Verdict::Parted;
        has_parted.then(|| moment.lines(lines, offset_ns).at(moment.ticks_before))
    }

    /// Monotonic time no lower than what was shown up to its end, or told beyond.
    fn above_all_told(&self, mut reading: Reading) -> Reading {
        let mut floor_ns = self.told.most_ns();
        if let Some((lines, refresh_ticks)) = self.shown_page().read_back() {
            let shown = View { lines, refresh_ticks };
            floor_ns = floor_ns.max(lines.at(shown.end()).mono_ns);
        }
        if reading.mono_ns < floor_ns {
            let above_ns = floor_ns.wrapping_sub(reading.mono_ns) as u64;
            reading.maxerror_ns = reading.maxerror_ns.saturating_add(above_ns);
            reading.mono_ns = floor_ns;
        }
        reading
    }
}
