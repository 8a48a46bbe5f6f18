// SPDX-License-Identifier: MIT
//! Laps into histograms of the crate `metrics`.

use crate::Elapsed;

impl Elapsed {
    /// Records the lap in seconds, the unit of Prometheus. An empty lap's negative rest is zero.
    ///
    /// ```
    /// # #[cfg(all(feature = "sys", not(any(miri, loom))))] {
    /// let mut watch = timebase::Stopwatch::calibrate(&timebase::Clock::private());
    /// let (_, elapsed) = watch.time(|| std::hint::black_box(1 + 1));
    /// elapsed.record(&metrics::histogram!("sum_seconds"));
    /// # }
    /// ```
    pub fn record(&self, histogram: &metrics::Histogram) {
        histogram.record((self.ns * 1e-9).max(0.0));
    }
}
