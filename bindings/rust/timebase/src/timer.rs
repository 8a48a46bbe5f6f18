// SPDX-License-Identifier: MIT
//! A timer for `tracing-subscriber`.

use crate::Clock;
use std::fmt;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

/// Stamps events with UTC as RFC 3339, to the nanosecond or as many decimals as are wanted.
///
/// ```
/// # #[cfg(all(feature = "sys", not(any(miri, loom))))] {
/// use timebase::{Clock, TracingTimer};
/// tracing_subscriber::fmt().with_timer(TracingTimer::new(Clock::new())).init();
/// tracing::info!("stamped");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TracingTimer {
    clock: Clock,
    decimals: usize,
}

impl TracingTimer {
    /// Nanoseconds of this clock.
    pub fn new(clock: Clock) -> Self {
        Self { clock, decimals: 9 }
    }

    /// 0 to 9 decimals of the second.
    #[must_use]
    pub fn decimals(mut self, decimals: usize) -> Self {
        self.decimals = decimals;
        self
    }
}

impl FormatTime for TracingTimer {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{:.*}", self.decimals, self.clock.utc())
    }
}
