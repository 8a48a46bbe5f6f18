// SPDX-License-Identifier: MIT
//! What each publication of the live writer says: bindings/conformance/law.h.

use timebase::Reading;

const SYNCHRONIZED_TAI_VALID: u32 = 0x12;

/// Number of the publication that a reading is of, if all of it is.
pub fn number(reading: &Reading, t0: u64) -> Option<u64> {
    let n = reading.utc_ns.wrapping_sub(reading.mono_ns) as u64;
    let d = reading.ticks.wrapping_sub(t0);
    if d >= 1 << 42 || n >= 1 << 34 {
        return None;
    }
    let slope = d * (n % 128 + 1);
    let bent = if n % 2 == 1 { d + (slope >> 24) } else { d - ((slope + (1 << 24) - 1) >> 24) };
    let growth = |rate: u64| (d * (rate % 1024)) >> 24;
    let is_whole = reading.mono_ns as u64 == (n << 28) + bent
        && reading.maxerror_ns == (1 << 20) + 3 * n + growth(n) + growth(n + 512)
        && reading.utc_maxerror_ns == (1 << 32) + 7 * n + growth(n)
        && reading.esterror_ns == (1 << 20) + 5 * n + growth(n + 256)
        && reading.flags.0 == (n as u32) << 16 | SYNCHRONIZED_TAI_VALID;
    is_whole.then_some(n)
}
