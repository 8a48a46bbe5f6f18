// SPDX-License-Identifier: MIT
//! Where the kernel's tick falls on a CPU.

use crate::{Clock, Error};
use core::time::Duration;
use timebase_sys as sys;

/// The kernel's tick falls on all times t of `CLOCK_MONOTONIC` with
/// |(t − phase) mod period| ≤ width / 2.
#[derive(Clone, Copy, Debug)]
pub struct TickComb(pub(super) sys::timebase_tick_comb);

impl TickComb {
    /// Learns where the tick falls on this CPU, by watching for 10 ms to 10 s: pin the thread
    /// first.
    pub fn learn(clock: &Clock, watch: Duration) -> Result<Self, Error> {
        let clock = clock.handle().ok_or(Error::Unsupported)?.as_ptr();
        let watch_ns = i64::try_from(watch.as_nanos()).map_err(|_| Error::Invalid)?;
        // SAFETY: plain numbers, for which zeros are values; a valid clock.
        let mut comb = unsafe { core::mem::zeroed() };
        Error::check(unsafe { sys::timebase_tick_comb_learn(clock, watch_ns, &mut comb) })?;
        Ok(Self(comb))
    }

    /// `None`: no comb; tickless, too noisy, or not watched for long enough.
    pub fn period_ns(&self) -> Option<i64> {
        (self.0.period_ns != 0).then_some(self.0.period_ns)
    }

    /// The middle of the gaps, in `0..period`.
    pub fn phase_ns(&self) -> i64 {
        self.0.phase_ns
    }

    /// The tick's gaps lie within ± half of this.
    pub fn width_ns(&self) -> i64 {
        self.0.width_ns
    }
}
