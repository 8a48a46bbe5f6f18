// SPDX-License-Identifier: MIT

//! quanta gives intervals only: elapsed time since the first reading.

#[path = "../probe.rs"]
mod probe;

fn main() {
    let began = quanta::Instant::now();
    probe::run(libc::CLOCK_MONOTONIC, false, || {
        began.elapsed().as_nanos() as i64
    });
}
