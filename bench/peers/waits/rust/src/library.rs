// SPDX-License-Identifier: MIT

//! Rust's ways to wait, as C functions of the driver.

use std::cell::Cell;
use std::time::{Duration, Instant};

use spin_sleep::{SpinSleeper, SpinStrategy};

thread_local! {
    static TAKEN: Cell<Option<Instant>> = Cell::new(None);
    /// An instant of Rust's, and what CLOCK_MONOTONIC showed then: Rust does not tell.
    static ANCHOR: Cell<Option<(Instant, i64)>> = Cell::new(None);
}

#[no_mangle]
pub extern "C" fn rust_instant_take() {
    TAKEN.with(|taken| taken.set(Some(Instant::now())));
}

/// The instant taken last was at `mono_ns` of CLOCK_MONOTONIC.
#[no_mangle]
pub extern "C" fn rust_instant_keep(mono_ns: i64) {
    let taken = TAKEN.with(Cell::get).expect("rust_instant_take() comes first");
    ANCHOR.with(|anchor| anchor.set(Some((taken, mono_ns))));
}

fn instant_of(mono_ns: i64) -> Instant {
    let (anchor, anchor_ns) = ANCHOR.with(Cell::get).expect("rust_instant_keep() comes first");
    anchor + Duration::from_nanos((mono_ns - anchor_ns) as u64)
}

fn hinting() -> SpinSleeper {
    SpinSleeper::default().with_spin_strategy(SpinStrategy::SpinLoopHint)
}

#[no_mangle]
pub extern "C" fn rust_thread_sleep(ns: u64) {
    std::thread::sleep(Duration::from_nanos(ns));
}

#[no_mangle]
pub extern "C" fn rust_thread_sleep_until(mono_ns: i64) {
    std::thread::sleep(instant_of(mono_ns).saturating_duration_since(Instant::now()));
}

#[no_mangle]
pub extern "C" fn rust_spin_sleep(ns: u64) {
    spin_sleep::sleep(Duration::from_nanos(ns));
}

#[no_mangle]
pub extern "C" fn rust_spin_sleep_until(mono_ns: i64) {
    spin_sleep::sleep_until(instant_of(mono_ns));
}

#[no_mangle]
pub extern "C" fn rust_spin_sleep_hint(ns: u64) {
    hinting().sleep(Duration::from_nanos(ns));
}

#[no_mangle]
pub extern "C" fn rust_spin_sleep_hint_until(mono_ns: i64) {
    hinting().sleep_until(instant_of(mono_ns));
}
