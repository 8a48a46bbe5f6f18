// SPDX-License-Identifier: MIT

//! Rust's own clocks are the reference itself: their error shows what the measurement can resolve.

#[path = "../probe.rs"]
mod probe;

use std::time::{Instant, SystemTime, UNIX_EPOCH};

fn system_time_ns() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("the clock is before 1970")
        .as_nanos() as i64
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("system_time") => probe::run(libc::CLOCK_REALTIME, false, system_time_ns),
        Some("instant") => {
            let began = Instant::now();
            probe::run(libc::CLOCK_MONOTONIC, false, || {
                began.elapsed().as_nanos() as i64
            });
        }
        _ => panic!("the first argument is one of: system_time instant"),
    }
}
