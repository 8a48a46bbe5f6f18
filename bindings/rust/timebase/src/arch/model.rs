// SPDX-License-Identifier: MIT
//! The counter of the models, Miri and loom, which know no instruction: a number that the test
//! sets.

use crate::counter::CounterId;
use core::sync::atomic::{AtomicU64, Ordering};

pub(crate) const COUNTER: CounterId = CounterId::X86Tsc;

static TICKS: AtomicU64 = AtomicU64::new(0);

#[allow(dead_code)] // by the tests alone
pub(crate) fn set_ticks(ticks: u64) {
    TICKS.store(ticks, Ordering::Relaxed);
}

pub(crate) fn ticks() -> u64 {
    TICKS.load(Ordering::Relaxed)
}

pub(crate) fn ticks_ordered() -> u64 {
    ticks()
}

pub(crate) fn ticks_begin() -> u64 {
    ticks()
}

pub(crate) fn ticks_end() -> u64 {
    ticks()
}
