// SPDX-License-Identifier: MIT

//! Writes a synthetic clock-bound segment (layout version 3) to the path given, so that the client
//! can be timed without its daemon, which would discipline this machine's clock. The values are
//! plausible, not disciplined.

use std::arch::x86_64::_rdtsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const MAGIC: [u32; 2] = [0x414D_5A4E, 0x4342_0200];
const SEGMENT_BYTES: u32 = 104;
const VERSION: u16 = 0x0303; // oldest and newest layout the segment satisfies
const GENERATION: u16 = 2; // even: no update under way
const BOUND_NS: i64 = 50_000;
const PERIOD_ERROR: f64 = 1e-7; // relative
const MAX_DRIFT_PPB: u32 = 1_000;
const SYNCHRONIZED: i32 = 1;
const VALID_SECONDS: i64 = 1_000_000;

/// Seconds per tick, from 100 ms of CLOCK_MONOTONIC.
fn period() -> f64 {
    let (began, ticks) = (Instant::now(), unsafe { _rdtsc() });
    std::thread::sleep(Duration::from_millis(100));
    let (elapsed, ticks) = (began.elapsed(), unsafe { _rdtsc() } - ticks);
    elapsed.as_secs_f64() / ticks as f64
}

/// A value below 1 as `fraction / 2^(64 + shift)`, with as large a shift as leaves 64 bits.
fn fraction(value: f64) -> (u64, u8) {
    let shift = (1.0 / value).log2().floor() as i32;
    ((value * 2f64.powi(64 + shift)) as u64, shift as u8)
}

fn segment() -> Vec<u8> {
    let (period_fraction, period_shift) = fraction(period());
    let (error_fraction, error_shift) = fraction(PERIOD_ERROR);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("the clock is before 1970");
    let (seconds, nanos) = (now.as_secs() as i64, i64::from(now.subsec_nanos()));
    let fields: [&[u8]; 20] = [
        &MAGIC[0].to_ne_bytes(),
        &MAGIC[1].to_ne_bytes(),
        &SEGMENT_BYTES.to_ne_bytes(),
        &VERSION.to_ne_bytes(),
        &GENERATION.to_ne_bytes(),
        &unsafe { _rdtsc() }.to_ne_bytes(),
        &seconds.to_ne_bytes(), // as of
        &nanos.to_ne_bytes(),
        &(seconds + VALID_SECONDS).to_ne_bytes(), // void after
        &nanos.to_ne_bytes(),
        &period_fraction.to_ne_bytes(),
        &error_fraction.to_ne_bytes(),
        &BOUND_NS.to_ne_bytes(),
        &0u64.to_ne_bytes(), // disruption marker
        &MAX_DRIFT_PPB.to_ne_bytes(),
        &SYNCHRONIZED.to_ne_bytes(),
        &[0], // no vmclock, so no disruption support
        &[period_shift],
        &[error_shift],
        &[0; 5],
    ];
    fields.concat()
}

fn main() {
    let path = std::env::args()
        .nth(1)
        .expect("usage: clock_bound_segment PATH");
    let bytes = segment();
    assert_eq!(bytes.len(), SEGMENT_BYTES as usize, "the segment's layout");
    std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
}
