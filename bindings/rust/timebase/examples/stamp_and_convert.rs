// SPDX-License-Identifier: MIT
//! stamp_and_convert: log raw ticks where every nanosecond counts, convert them afterwards.

use timebase::Clock;

const EVENTS: usize = 5;
const NS_PER_SEC: i64 = 1_000_000_000;

fn main() {
    let clock = Clock::private();

    // Now: a register is read, nothing else.
    let stamps: [u64; EVENTS] = std::array::from_fn(|_| timebase::ticks_ordered());

    // Later, in this or another thread: a tick means the same time whoever converts it.
    let first_ns = clock.at(stamps[0]).mono_ns;
    for (n, &stamp) in stamps.iter().enumerate() {
        let event = clock.at(stamp);
        println!(
            "event {n}: tick {} = {} ns UTC +/- {}, {:+} ns from the first",
            event.ticks,
            event.utc_ns,
            event.maxerror_ns,
            event.mono_ns - first_ns
        );
    }

    // The way back: at which tick will it be a second later? The bound says how sure that is.
    let then = clock.ticks_at_mono(first_ns + NS_PER_SEC);
    println!(
        "a second after the first: tick {then}, {} ticks later, +/- {} ns",
        then.wrapping_sub(stamps[0]),
        clock.at(then).maxerror_ns
    );
}
