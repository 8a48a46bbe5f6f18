// SPDX-License-Identifier: MIT

//! minstant as a UTC clock: an instant against an anchor taken once, as its documentation shows.

#[path = "../probe.rs"]
mod probe;

fn main() {
    let anchor = minstant::Anchor::new();
    probe::run(libc::CLOCK_REALTIME, !minstant::is_tsc_available(), || {
        minstant::Instant::now().as_unix_nanos(&anchor) as i64
    });
}
