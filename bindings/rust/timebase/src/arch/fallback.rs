// SPDX-License-Identifier: MIT
//! Any other processor: the kernel's raw monotonic clock is the counter, one tick a nanosecond.

use crate::counter::{ticks_os, CounterId};
use core::sync::atomic::{fence, Ordering};

pub(crate) const COUNTER: CounterId = CounterId::Os;

pub(crate) fn ticks() -> u64 {
    ticks_os()
}

pub(crate) fn ticks_ordered() -> u64 {
    fence(Ordering::SeqCst);
    ticks_os()
}

pub(crate) fn ticks_begin() -> u64 {
    let ticks = ticks_ordered();
    fence(Ordering::SeqCst);
    ticks
}

pub(crate) fn ticks_end() -> u64 {
    ticks_begin()
}
