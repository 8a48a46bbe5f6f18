// SPDX-License-Identifier: MIT
//! A clock for tests, which stands still until it is told otherwise.

use crate::reading::Flags;
use crate::{Reading, Status};
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;

/// The other end of [`Clock::mock`](crate::Clock::mock): sets what the clock shows. A tick of it is
/// a nanosecond of its monotonic time.
#[derive(Clone, Debug)]
pub struct MockClock {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    mono_ns: AtomicI64,
    utc_offset_ns: AtomicI64,
    maxerror_ns: AtomicU64,
    flags: AtomicU32,
}

impl MockClock {
    pub(crate) fn new() -> Self {
        Self {
            state: Arc::new(State {
                mono_ns: AtomicI64::new(0),
                utc_offset_ns: AtomicI64::new(0),
                maxerror_ns: AtomicU64::new(0),
                flags: AtomicU32::new(Status::Synchronized as u32),
            }),
        }
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        let ns = i64::try_from(by.as_nanos()).unwrap_or(i64::MAX);
        let add = |mono_ns: i64| Some(mono_ns.saturating_add(ns));
        let _ = self.state.mono_ns.fetch_update(Ordering::AcqRel, Ordering::Acquire, add);
    }

    /// Steps UTC to this time; monotonic time stays.
    pub fn set_utc_ns(&self, utc_ns: i64) {
        let mono_ns = self.state.mono_ns.load(Ordering::Acquire);
        self.state.utc_offset_ns.store(utc_ns.wrapping_sub(mono_ns), Ordering::Release);
    }

    /// Both bounds from now on.
    pub fn set_maxerror_ns(&self, maxerror_ns: u64) {
        self.state.maxerror_ns.store(maxerror_ns, Ordering::Release);
    }

    /// Status, leap seconds and TAI offset from now on.
    pub fn set_flags(&self, flags: Flags) {
        self.state.flags.store(flags.0, Ordering::Release);
    }

    pub(crate) fn at(&self, ticks: u64) -> Reading {
        let mono_ns = ticks as i64;
        let maxerror_ns = self.state.maxerror_ns.load(Ordering::Acquire);
        Reading {
            ticks,
            mono_ns,
            utc_ns: mono_ns.wrapping_add(self.state.utc_offset_ns.load(Ordering::Acquire)),
            maxerror_ns,
            utc_maxerror_ns: maxerror_ns,
            esterror_ns: maxerror_ns,
            flags: Flags(self.state.flags.load(Ordering::Acquire)),
        }
    }

    pub(crate) fn now(&self) -> Reading {
        self.at(self.state.mono_ns.load(Ordering::Acquire) as u64)
    }

    pub(crate) fn ticks_at_utc(&self, utc_ns: i64) -> u64 {
        utc_ns.wrapping_sub(self.state.utc_offset_ns.load(Ordering::Acquire)) as u64
    }
}
