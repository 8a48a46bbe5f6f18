// SPDX-License-Identifier: MIT

//! The empty Rust program: what every Rust start-up is compared with.

#[path = "../probe.rs"]
mod probe;

fn main() {
    probe::run(libc::CLOCK_MONOTONIC, false, || 0);
}
