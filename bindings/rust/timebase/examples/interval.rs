// SPDX-License-Identifier: MIT
//! interval: which of two events came first, if that can be known at all.

use timebase::{Clock, Interval, Status};

const READINGS_MAX: u32 = 100_000_000;

fn print(name: &str, when: &Interval) {
    let Interval { earliest_ns, latest_ns } = when;
    println!("{name}: {earliest_ns} ... {latest_ns} ({} ns)", when.width_ns());
}

fn order(a: &Interval, b: &Interval) -> &'static str {
    if a.before(b) {
        "definitely before"
    } else if b.before(a) {
        "definitely after"
    } else {
        "overlapping, nobody knows"
    }
}

fn main() {
    let clock = Clock::private();

    // The first conversion learns the length of a tick: up to 1 ms, once in a process.
    clock.at(timebase::ticks());

    // Bounds against the system clock; for true UTC: utc_interval().
    let ((a, status), (b, _)) = (clock.realtime_interval(), clock.realtime_interval());
    assert_ne!(status, Status::Unknown, "nothing is known about the time");

    // Wait out the doubt: from then on everybody's clock agrees that a is over.
    let mut readings = 0;
    let c = loop {
        let (c, _) = clock.realtime_interval();
        readings += 1;
        if a.before(&c) || readings == READINGS_MAX {
            break c;
        }
    };
    print("a", &a);
    print("b", &b);
    print("c", &c);
    println!("a and b, one right after the other: {}", order(&a, &b));
    println!("a and c, {readings} readings later: {}", order(&a, &c));
    assert!(a.before(&c));
}
