// SPDX-License-Identifier: MIT

//! fastant as a UTC clock: an instant against an anchor taken once, as its documentation shows.

#[path = "../probe.rs"]
mod probe;

fn main() {
    let anchor = fastant::Anchor::new();
    probe::run(libc::CLOCK_REALTIME, !fastant::is_tsc_available(), || {
        fastant::Instant::now().as_unix_nanos(&anchor) as i64
    });
}
