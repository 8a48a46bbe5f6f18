// SPDX-License-Identifier: MIT
//! The protocol under the models: loom tries each order of the words and each value that a relaxed
//! load may see; Miri looks for data races and undefined behaviour in threads that really run.
//! Publication n says n in each of its words, so a mixture shows.

use super::{Line, Lines, Page, Validity};
use crate::arch::set_ticks;
use crate::{CounterId, Reading};
use std::sync::Arc;

const PERIOD_FRAC: u64 = 1 << 63;

fn line(n: u64) -> Line {
    Line {
        start_ticks: 1000 * n,
        mono_ns: n << 32,
        utc_ns: (n << 32) + n,
        period_frac: PERIOD_FRAC,
        period_ns: 0,
        flags: (n as u32) << 16 | 2,
        maxerror_ns: 3 * n,
        drift_rate: 0,
        slew_rate: 0,
        utc_maxerror_ns: 4 * n,
    }
}

/// All of one publication; the line of a late tick is `after`.
fn lines(n: u64) -> Lines {
    let validity = Validity {
        silent_ticks: (1 << 40) + n,
        void_ticks: 1 << 62,
        before_esterror_ns: n,
        slew_esterror_ns: n,
        after_esterror_ns: n,
        esterror_rate: 0,
    };
    Lines { before: line(n), slew: line(n), after: line(n), validity }
}

/// A reading is of one publication; gives which.
#[cfg(not(loom))]
fn whole(reading: &Reading) -> u64 {
    let n = (reading.utc_ns - reading.mono_ns) as u64;
    let elapsed = (reading.ticks - 1000 * n) / 2;
    assert_eq!(reading.mono_ns as u64, (n << 32) + elapsed, "torn: {reading:?}");
    assert_eq!(reading.flags.0 >> 16, n as u32, "torn: {reading:?}");
    assert_eq!(reading.maxerror_ns, 3 * n, "torn: {reading:?}");
    assert_eq!(reading.utc_maxerror_ns, 7 * n, "torn: {reading:?}");
    assert_eq!(reading.esterror_ns, n, "torn: {reading:?}");
    n
}

const LATE: u64 = 1_000_000;

#[cfg(not(loom))]
fn read_and_judge(page: &Page, newest: &mut u64) {
    for reading in [page.now(), page.at(LATE)].into_iter().flatten() {
        let n = whole(&reading);
        assert!(n >= *newest, "number {n} after {newest}");
        *newest = n;
    }
}

#[cfg(loom)]
mod with_loom {
    use super::*;

    fn refresh(n: u64) -> u64 {
        [0, 50, 10, 90][n as usize]
    }

    /// Lines that are silent just after their own refresh_ticks.
    fn of(n: u64) -> Lines {
        let mut lines = lines(n);
        lines.validity.silent_ticks = refresh(n) + 1;
        lines
    }

    // The order of the fields: 19 words before the copies, 39 in each.
    const SEQ: usize = 0;
    const REFRESH: usize = 1;
    const COPY: [usize; 2] = [19, 58];
    const AFTER: usize = 20;
    const START: usize = AFTER;
    const MONO: usize = AFTER + 1;
    const UTC: usize = AFTER + 2;
    const FLAGS: usize = AFTER + 5;
    const SILENT: usize = 30;
    const ESTERROR: usize = 34;

    /// Only these words differ from one publication to the next: to the others loom is blind.
    fn lines_of(n: u64, words: &[usize]) -> Lines {
        let (mut all, varied) = (lines(0), lines(n));
        all.validity.silent_ticks = 1 << 40;
        for word in words {
            match *word {
                START => all.after.start_ticks = varied.after.start_ticks,
                MONO => all.after.mono_ns = varied.after.mono_ns,
                UTC => all.after.utc_ns = varied.after.utc_ns,
                FLAGS => all.after.flags = varied.after.flags,
                ESTERROR => all.validity.after_esterror_ns = n,
                _ => unreachable!("no word of the tests"),
            }
        }
        all
    }

    /// The publication that a word of the reading is of.
    fn number(reading: &Reading, word: usize) -> u64 {
        match word {
            START => (LATE - 2 * (reading.mono_ns as u64 & 0xffff_ffff)) / 1000,
            MONO => reading.mono_ns as u64 >> 32,
            UTC => reading.utc_ns as u64 >> 32,
            FLAGS => u64::from(reading.flags.0 >> 16),
            ESTERROR => reading.esterror_ns,
            _ => unreachable!("no word of the tests"),
        }
    }

    fn judge(reading: Option<Reading>, words: &[usize], newest: &mut u64) {
        let Some(reading) = reading else { return };
        let numbers: Vec<u64> = words.iter().map(|word| number(&reading, *word)).collect();
        assert!(numbers.iter().all(|n| *n == numbers[0]), "torn: {numbers:?}");
        assert!(numbers[0] >= *newest, "number {} after {newest}", numbers[0]);
        *newest = numbers[0];
    }

    fn explore(words: &'static [usize], read: fn(&Page) -> Option<Reading>) {
        const PUBLISHED: u64 = 3;
        let mut modelled = std::vec![SEQ];
        modelled.extend(words.iter().flat_map(|word| COPY.map(|copy| copy + word)));
        let executions = Arc::new(core::sync::atomic::AtomicUsize::new(0));
        let counted = executions.clone();
        loom::model(move || {
            counted.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
            set_ticks(LATE);
            crate::modelled::begin(&modelled);
            let page = Arc::new(Page::begin(CounterId::X86Tsc));
            page.publish(&lines_of(1, words), 1 << 40);
            let writers = page.clone();
            let writer = loom::thread::spawn(move || {
                for n in 2..=PUBLISHED {
                    writers.publish(&lines_of(n, words), 1 << 40);
                }
            });
            let mut newest = 0;
            judge(read(&page), words, &mut newest);
            judge(read(&page), words, &mut newest);
            writer.join().unwrap();
            newest = PUBLISHED;
            judge(Some(read(&page).expect("nobody publishes")), words, &mut newest);
        });
        // One execution would mean that loom has nothing to try.
        let executions = executions.load(core::sync::atomic::Ordering::Relaxed);
        std::println!("{executions} executions");
        assert!(executions > 100, "{executions} executions");
    }

    #[test]
    fn now_by_start_and_time() {
        explore(&[START, MONO], Page::now);
    }

    #[test]
    fn now_by_two_times_of_one_line() {
        explore(&[MONO, UTC], Page::now);
    }

    #[test]
    fn any_tick_by_flags_and_error() {
        explore(&[FLAGS, ESTERROR], |page| page.at(LATE));
    }

    /// refresh_ticks lies outside the copies: it is never larger than that of the accepted lines.
    fn explore_refresh() {
        loom::model(|| {
            set_ticks(LATE);
            let modelled: Vec<usize> = [SEQ, REFRESH, COPY[0] + SILENT, COPY[1] + SILENT].into();
            crate::modelled::begin(&modelled);
            let page = Arc::new(Page::begin(CounterId::X86Tsc));
            page.publish(&of(1), refresh(1));
            let writers = page.clone();
            let writer = loom::thread::spawn(move || {
                writers.publish(&of(2), refresh(2));
                writers.publish(&of(3), refresh(3));
            });
            let (lines, seen) = page.read_back().expect("an attempt without a publication");
            assert!(seen < lines.validity.silent_ticks, "{seen} with {lines:?}");
            writer.join().unwrap();
        });
    }

    #[test]
    fn refresh_is_no_larger_than_that_of_the_lines() {
        explore_refresh();
    }

    /// Each fence and each order is needed: without it something is found.
    #[test]
    fn what_is_left_out_is_found() {
        use crate::modelled::{set_fault, Without};
        let two_times = || explore(&[MONO, UTC], Page::now);
        let tests: [(Without, &dyn Fn()); 5] = [
            (Without::A, &two_times),
            (Without::B, &two_times),
            (Without::C, &two_times),
            (Without::D, &two_times),
            (Without::E, &explore_refresh),
        ];
        for (fault, test) in tests {
            set_fault(Some(fault));
            let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
            set_fault(None);
            assert!(found.is_err(), "without {fault:?} nothing was found");
        }
    }
}

#[cfg(not(loom))]
mod in_threads {
    use super::*;
    use std::thread;

    const PUBLICATIONS: u64 = if cfg!(miri) { 30 } else { 20_000 };

    /// Of what any reader sees: no mixture, no number before an earlier one.
    #[test]
    fn readers_beside_a_writer() {
        set_ticks(LATE);
        let page = Arc::new(Page::begin(CounterId::X86Tsc));
        page.publish(&lines(1), 1 << 40);
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let page = page.clone();
                thread::spawn(move || {
                    let mut newest = 0;
                    for _ in 0..PUBLICATIONS {
                        read_and_judge(&page, &mut newest);
                        assert!(page.validate() != Err(crate::Error::Format));
                        assert!(page.ticks_at_mono(1).is_some());
                    }
                })
            })
            .collect();
        for n in 2..PUBLICATIONS {
            page.publish(&lines(n % 900), 1 << 40);
            if n % 900 == 899 {
                break; // numbers must not fall
            }
        }
        for reader in readers {
            reader.join().unwrap();
        }
    }

    /// Memory that is no page: refused or read, never undefined.
    #[test]
    fn any_bytes() {
        let mut bytes = [0u8; Page::SIZE];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for round in 0..if cfg!(miri) { 8 } else { 2_000 } {
            for byte in &mut bytes {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                *byte = (state >> 56) as u8;
            }
            let page = Page::from_own_bytes(&bytes);
            let _ = (page.validate(), page.now(), page.at(state), page.utc_interval());
            let _ = (page.ticks_at_utc(state as i64), page.ticks_at_mono(round));
            let _ = (page.tai_ns(), page.realtime_interval(), page.mono_ns_unordered());
            let _ = Page::from_bytes(&bytes[..round as usize % Page::SIZE]);
        }
    }

    /// Memory that C would share, by its address.
    #[test]
    fn by_address() {
        set_ticks(LATE);
        let page = Box::new(Page::of(&lines(5)));
        // SAFETY: a page of our own, which outlives the reference.
        let seen = unsafe { Page::from_ptr(core::ptr::from_ref(&*page).cast()) };
        assert_eq!(whole(&seen.at(LATE).unwrap()), 5);
        assert_eq!(seen.validate(), Ok(()));
    }

    #[test]
    fn a_number_whose_lower_half_is_zero_is_passed_over() {
        let page = Page::begin(CounterId::X86Tsc);
        for seq in [u64::from(u32::MAX), u64::MAX] {
            page.seq.store(seq);
            page.publish(&lines(7), 5);
            assert_eq!(page.seq_whole() as u32, 1);
            assert_eq!(page.read_back(), Some((lines(7), 5)));
        }
    }
}
