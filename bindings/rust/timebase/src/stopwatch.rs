// SPDX-License-Identifier: MIT
//! How long a few instructions take, without what the watch itself takes.

use crate::counter::{ticks, ticks_begin, ticks_end};
use crate::granularity::granularity_ticks;

/// The first readings are cold: code, counter path.
const WARM_UP_LAPS: usize = 16;
/// Odd, so that the median is one of them; 8 KiB of stack.
const LAPS: usize = 1001;

/// Measures how long a few instructions take, and subtracts its own cost.
///
/// ```
/// # #[cfg(all(feature = "sys", not(any(miri, loom))))] {
/// use timebase::{Clock, Stopwatch};
/// let mut watch = Stopwatch::calibrate(&Clock::private());
/// let (sum, elapsed) = watch.time(|| (0..100u64).map(std::hint::black_box).sum::<u64>());
/// println!("{sum}: {:.1} ± {:.1} ns", elapsed.ns, elapsed.uncertainty_ns);
/// # }
/// ```
///
/// Start and stop are serialised: the measured code begins after the start is read and ends before
/// the stop is read. A stopwatch belongs to one thread. A lap must start and stop on CPUs with
/// synchronised counters. The cost of an inner lap is taken off the outer one.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    overhead_ticks: u64,
    spread_ticks: u64,
    pair_ticks: u64,
    granularity_ticks: u64,
    period_ns: f64,
    laps: u64,
}

/// A lap that is under way.
#[derive(Clone, Copy, Debug)]
#[must_use = "stop it"]
pub struct Lap {
    start_ticks: u64,
    laps: u64,
}

/// How long a lap took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elapsed {
    /// Overhead subtracted; may be slightly negative for an empty lap.
    pub ticks: i64,
    /// The same in nanoseconds.
    pub ns: f64,
    /// The empty lap's spread plus one granule; disturbances come on top.
    pub uncertainty_ns: f64,
}

impl Elapsed {
    /// As a duration; an empty lap's negative rest is zero.
    pub fn duration(&self) -> core::time::Duration {
        // Not NaN, and at most 2^63 ticks of 1 µs.
        core::time::Duration::from_secs_f64((self.ns * 1e-9).max(0.0))
    }
}

impl Stopwatch {
    /// Learns what an empty lap costs: 16 laps to warm up, then 1,001 empty ones, and the same
    /// nested; and by how many ticks the counter steps. That takes 0.2 ms to some ms, by the counter.
    #[cfg(feature = "std")]
    pub fn calibrate(clock: &crate::Clock) -> Self {
        let now_ns = clock.mono_ns();
        let first = clock.ticks_at_mono(now_ns);
        let last = clock.ticks_at_mono(now_ns.saturating_add(1_000_000_000));
        Self::with_period(if last == first { 0.0 } else { 1e9 / last.wrapping_sub(first) as f64 })
    }

    /// The same, with the length of a tick that a page's reader knows.
    pub fn with_period(period_ns: f64) -> Self {
        let mut watch = Self {
            overhead_ticks: 0,
            spread_ticks: 0,
            pair_ticks: 0,
            granularity_ticks: 1,
            period_ns,
            laps: 0,
        };
        ticks();
        let empty = watch.measure(Self::lap_empty);
        watch.overhead_ticks = empty[LAPS / 2];
        watch.spread_ticks = empty[LAPS * 99 / 100] - empty[0];
        watch.granularity_ticks = granularity_ticks(ticks);
        watch.pair_ticks = watch.measure(Self::lap_nested)[LAPS / 2];
        watch.laps = 0;
        watch
    }

    fn measure(&mut self, lap: fn(&mut Self) -> u64) -> [u64; LAPS] {
        let mut laps = [0; LAPS];
        for _ in 0..WARM_UP_LAPS {
            lap(self);
        }
        for value in &mut laps {
            *value = lap(self);
        }
        laps.sort_unstable();
        laps
    }

    #[inline(never)]
    fn lap_empty(&mut self) -> u64 {
        let lap = self.start();
        self.stop(lap).ticks as u64
    }

    /// An outer lap around one inner lap, its cost not yet subtracted: pair_ticks is still 0.
    #[inline(never)]
    fn lap_nested(&mut self) -> u64 {
        let lap = self.start();
        self.lap_empty();
        self.stop(lap).ticks as u64
    }

    /// Starts a lap. Laps may be nested.
    #[inline]
    pub fn start(&mut self) -> Lap {
        let laps = self.laps;
        Lap { start_ticks: ticks_begin(), laps }
    }

    /// Stops a lap.
    #[inline]
    pub fn stop(&mut self, lap: Lap) -> Elapsed {
        let stop_ticks = ticks_end();
        let inner = self.laps.wrapping_sub(lap.laps);
        let ticks = stop_ticks
            .wrapping_sub(lap.start_ticks)
            .wrapping_sub(self.overhead_ticks)
            .wrapping_sub(inner.wrapping_mul(self.pair_ticks)) as i64;
        let doubt = self
            .spread_ticks
            .wrapping_mul(inner.wrapping_add(1))
            .wrapping_add(self.granularity_ticks);
        self.laps = self.laps.wrapping_add(1);
        Elapsed {
            ticks,
            ns: ticks as f64 * self.period_ns,
            uncertainty_ns: doubt as f64 * self.period_ns,
        }
    }

    /// Times a closure, once. If it panics the lap is dropped, and counts for nothing.
    #[inline]
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> (T, Elapsed) {
        let lap = self.start();
        let result = work();
        (result, self.stop(lap))
    }

    /// What an empty lap takes; it is subtracted.
    pub fn overhead_ticks(&self) -> u64 {
        self.overhead_ticks
    }

    /// The length of a tick.
    pub fn period_ns(&self) -> f64 {
        self.period_ns
    }

    /// Laps stopped so far.
    pub fn laps(&self) -> u64 {
        self.laps
    }
}
