// SPDX-License-Identifier: MIT
//! Readings in Rust beside C's inline ones, the language's own clocks and the best of others, as
//! lines of JSON. All take turns, batch by batch, in this process.

use std::hint::black_box;
use std::time::{Instant as StdInstant, SystemTime};
use timebase::{Clock, Page};
use timebase_conformance::c;

/// Readings of a batch: long enough to hide the two readings around it, short enough to miss most
/// interrupts.
const BATCH: u64 = 2000;
const TRIALS: usize = 301;

struct Way<'a> {
    reading: &'static str,
    who: &'static str,
    batch: Box<dyn FnMut(u64) -> u64 + 'a>,
    ns: Vec<f64>,
}

/// The readings summed up, as c/inline.c does.
macro_rules! batch {
    ($reading:expr) => {
        Box::new(move |count| {
            let mut sum = 0u64;
            for _ in 0..count {
                sum = sum.wrapping_add($reading);
            }
            sum
        })
    };
}

fn way<'a>(
    reading: &'static str,
    who: &'static str,
    batch: Box<dyn FnMut(u64) -> u64 + 'a>,
) -> Way<'a> {
    Way { reading, who, batch, ns: Vec::with_capacity(TRIALS) }
}

fn ns_since(start: u64, period_ns: f64) -> f64 {
    timebase::ticks_ordered().wrapping_sub(start) as f64 * period_ns
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

fn main() {
    let own = Clock::private();
    let clock = &own;
    clock.now();
    let handle = core::ptr::from_ref::<Page>(clock.page()).cast();
    let second = clock
        .ticks_at_mono(clock.mono_ns() + 1_000_000_000)
        .wrapping_sub(clock.ticks_at_mono(clock.mono_ns()));
    let period_ns = 1e9 / second as f64;
    let quanta_clock = quanta::Clock::new();
    let quanta = &quanta_clock;
    let std_start = StdInstant::now();
    let quanta_start = quanta.now();
    let minstant_start = minstant::Instant::now();
    let anchor = minstant::Anchor::new();

    let c_way = |name, batch: unsafe extern "C" fn(*const core::ffi::c_void, u64) -> u64| {
        // SAFETY: the library's own clock.
        way(name, "C inline", Box::new(move |count| unsafe { batch(handle, count) }))
    };
    let mut ways = [
        way("utc_ns", "timebase", batch!(clock.utc_ns() as u64)),
        c_way("utc_ns", c::inline_utc_ns),
        way("utc_ns", "timebase::utc_ns()", batch!(timebase::utc_ns() as u64)),
        way("utc_ns", "timebase unordered", batch!(clock.utc_ns_unordered() as u64)),
        way(
            "utc_bounded",
            "timebase",
            batch!({
                let (when, status) = clock.utc_interval();
                (when.earliest_ns as u64)
                    .wrapping_add(when.latest_ns as u64)
                    .wrapping_add(status as u64)
            }),
        ),
        c_way("utc_bounded", c::inline_utc_bounded),
        way("mono_ns", "timebase", batch!(clock.mono_ns() as u64)),
        c_way("mono_ns", c::inline_mono_ns),
        way("ticks", "timebase", batch!(timebase::ticks_ordered())),
        c_way("ticks", c::inline_ticks),
        way(
            "own_clock",
            "std::time::SystemTime",
            batch!({
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                since.map_or(0, |since| since.as_nanos() as u64)
            }),
        ),
        way(
            "own_clock",
            "std::time::Instant",
            batch!(black_box(StdInstant::now()).duration_since(std_start).as_nanos() as u64),
        ),
        way(
            "peer",
            "quanta Instant",
            batch!(black_box(quanta.now()).duration_since(quanta_start).as_nanos() as u64),
        ),
        way(
            "peer",
            "minstant Instant",
            batch!(black_box(minstant::Instant::now()).duration_since(minstant_start).as_nanos()
                as u64),
        ),
        way(
            "peer",
            "minstant as_unix_nanos",
            batch!(minstant::Instant::now().as_unix_nanos(&anchor)),
        ),
    ];
    for trial in 0..=TRIALS {
        for way in &mut ways {
            let start = timebase::ticks_ordered();
            black_box((way.batch)(BATCH));
            let ns = ns_since(start, period_ns) / BATCH as f64;
            if trial > 0 {
                way.ns.push(ns); // the first round is cold
            }
        }
    }
    for way in &mut ways {
        way.ns.sort_by(f64::total_cmp);
        println!(
            "{{\"language\": \"Rust\", \"reading\": \"{}\", \"who\": \"{}\", \"median_ns\": {:.3}, \
             \"p99_ns\": {:.3}, \"trials\": {TRIALS}}}",
            way.reading,
            way.who,
            quantile(&way.ns, 0.5),
            quantile(&way.ns, 0.99)
        );
    }
}
