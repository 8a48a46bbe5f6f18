// SPDX-License-Identifier: MIT
//! The histories of bindings/conformance/shown: what C shows of lines and of the kernel's clocks.

use super::super::view::View;
use super::*;
use crate::page::Validity;

/// What an attached clock has, between two steps.
struct Reader {
    writers: Lines,
    refresh_ticks: u64,
    /// By what is known of now.
    held: Lines,
    shown: View,
}

fn line(n: &[u64]) -> Line {
    Line {
        start_ticks: n[0],
        mono_ns: n[1],
        utc_ns: n[2],
        period_ns: n[3] as u32,
        period_frac: n[4],
        flags: n[5] as u32,
        maxerror_ns: n[6],
        drift_rate: n[7] as u32,
        slew_rate: n[8] as u32,
        utc_maxerror_ns: n[9],
    }
}

impl Reader {
    fn page(&mut self, n: &[u64]) {
        self.refresh_ticks = n[0];
        self.writers.validity = Validity {
            silent_ticks: n[1],
            void_ticks: n[2],
            before_esterror_ns: n[3],
            slew_esterror_ns: n[4],
            after_esterror_ns: n[5],
            esterror_rate: n[6] as u32,
        };
    }

    /// A shared page tells no state but by its status: the first word is C's and Go's.
    fn look(&mut self, now_ticks: u64, want: &str) -> String {
        let state = want.split(' ').next().expect("a state");
        self.held = self.writers;
        self.held.silence(now_ticks);
        let is_doubtful = self.held.is_doubtful(self.refresh_ticks, now_ticks);
        let trust = if is_doubtful { "doubtful" } else { "trusted" };
        let Lines { before, slew, after, .. } = self.held;
        format!("{state} {trust} {} {} {}", before.flags, slew.flags, after.flags)
    }

    fn clocks(&mut self, n: &[u64]) -> String {
        let moment = Moment {
            ticks_before: n[0],
            ticks_after: n[1],
            mono_ns: n[2] as i64,
            utc_ns: n[3] as i64,
            error_ns: n[4],
        };
        let offset_ns = n[5] as i64;
        let verdict = moment.judge(&self.held, offset_ns);
        if verdict != Verdict::Agree {
            self.held = moment.lines_by(n[6], &self.held, offset_ns);
        }
        format!("{verdict:?}").to_lowercase()
    }

    fn show(&mut self, view: View, what: &str) -> String {
        self.shown = view;
        let Lines { after, validity, .. } = &self.shown.lines;
        let (refresh, silent) = (self.shown.refresh_ticks, validity.silent_ticks);
        format!("{what} {} {refresh} {silent} {}", after.start_ticks, validity.void_ticks)
    }

    fn above(&mut self, now_ticks: u64, start_ticks: u64, floor_ns: i64) -> String {
        let old = *self.shown.lines.line_at(start_ticks.wrapping_sub(1));
        let (view, is_bridge) = View::above(&self.held, &old, start_ticks, floor_ns, now_ticks);
        self.show(view, if is_bridge { "bridge" } else { "line" })
    }

    fn at(&self, ticks: u64) -> String {
        let now = self.shown.lines.at(ticks);
        let errors = format!("{} {} {}", now.maxerror_ns, now.utc_maxerror_ns, now.esterror_ns);
        format!("{} {} {errors} {}", now.mono_ns, now.utc_ns, now.flags.0)
    }

    /// What is said of a step; nothing of a publication.
    fn take(&mut self, name: &str, n: &[u64], want: &str) -> String {
        match name {
            "look" => return self.look(n[0], want),
            "clocks" => return self.clocks(n),
            "show" => return self.show(View::at(&self.held, n[0]), "line"),
            "above" => return self.above(n[0], n[1], n[2] as i64),
            "at" => return self.at(n[0]),
            "page" => self.page(n),
            "before" => self.writers.before = line(n),
            "slew" => self.writers.slew = line(n),
            "after" => self.writers.after = line(n),
            "history" => {}
            _ => panic!("no step: {name}"),
        }
        String::new()
    }
}

/// Negative ones in two's complement.
fn number(word: &str) -> u64 {
    word.parse().unwrap_or_else(|_| word.parse::<i64>().expect("a number") as u64)
}

#[test]
fn what_is_shown_is_what_c_shows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/shown");
    let Ok(text) = std::fs::read_to_string(path) else {
        assert!(!std::path::Path::new(path).with_file_name("law.h").exists());
        println!("not tried: {path} is not in the package, only in the project's tree");
        return;
    };
    let lines = Lines::default();
    let shown = View { lines, refresh_ticks: 0 };
    let mut reader = Reader { writers: lines, refresh_ticks: 0, held: lines, shown };
    let mut steps = 0;
    for row in text.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let (event, want) = row.split_once(" -> ").unwrap_or((row, ""));
        let mut words = event.split_whitespace();
        let name = words.next().expect("a step");
        let numbers: Vec<u64> = words.map(number).collect();
        assert_eq!(reader.take(name, &numbers, want), want, "of {row}");
        steps += usize::from(!want.is_empty());
    }
    assert!(steps >= 100, "{steps} steps");
}
