// SPDX-License-Identifier: MIT
//! Asks the kernel for what punctual threads need, says what it refused, gives all back.

use super::text;
use super::wait_flags::bits;
use crate::Error;
use core::marker::PhantomData;
use core::ops::{BitOr, BitOrAssign};
use timebase_sys as sys;

bits! {
    /// What a punctual thread may ask for.
    RealtimeSettings {
        /// This thread on one CPU.
        AFFINITY = sys::TIMEBASE_REALTIME_AFFINITY;
        /// `SCHED_FIFO`.
        SCHEDULER = sys::TIMEBASE_REALTIME_SCHEDULER;
        /// All memory locked.
        MEMORY = sys::TIMEBASE_REALTIME_MEMORY;
        /// Timers of ordinary threads 1 ns late at most.
        TIMER_SLACK = sys::TIMEBASE_REALTIME_TIMER_SLACK;
        /// No deep idle states, of any CPU.
        CPU_LATENCY = sys::TIMEBASE_REALTIME_CPU_LATENCY;
        /// All of them.
        ALL = sys::TIMEBASE_REALTIME_ALL;
    }
}

impl RealtimeSettings {
    /// "SCHED_FIFO", of one bit.
    pub fn name(self) -> &'static str {
        // SAFETY: constant text for every number.
        unsafe { text(sys::timebase_realtime_name(self.0)) }
    }

    /// What a person may do about a refusal of this bit.
    pub fn advice(self) -> &'static str {
        // SAFETY: constant text for every number.
        unsafe { text(sys::timebase_realtime_advice(self.0)) }
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealtimeRequest {
    /// Which settings.
    pub wanted: RealtimeSettings,
    /// Of `SCHED_FIFO`, 1 to 99.
    pub priority: i32,
    /// For the affinity; `None`: the one the thread is on.
    pub cpu: Option<u32>,
}

impl Default for RealtimeRequest {
    fn default() -> Self {
        Self { wanted: RealtimeSettings::ALL, priority: 50, cpu: None }
    }
}

/// A setting that the kernel refused.
#[derive(Debug)]
pub struct Refusal {
    /// Which one.
    pub setting: RealtimeSettings,
    /// Why.
    pub reason: std::io::Error,
}

/// Settings of this thread, given back when this is dropped. A refused setting stays as it was, and
/// the others are still granted.
///
/// ```
/// use timebase::{Realtime, RealtimeRequest};
/// let realtime = Realtime::acquire(&RealtimeRequest::default())?;
/// for refusal in realtime.refused() {
///     println!("no {}: {}", refusal.setting.name(), refusal.setting.advice());
/// }
/// // ... the punctual part ...
/// realtime.release()?;
/// # Ok::<(), timebase::Error>(())
/// ```
pub struct Realtime {
    realtime: sys::timebase_realtime,
    /// The thread that acquired releases.
    thread: PhantomData<*const ()>,
}

impl Realtime {
    /// Asks for each setting, for the calling thread.
    pub fn acquire(request: &RealtimeRequest) -> Result<Self, Error> {
        let cpu = match request.cpu {
            Some(cpu) => i32::try_from(cpu).map_err(|_| Error::Invalid)?,
            None => -1,
        };
        let request = sys::timebase_realtime_request {
            wanted: request.wanted.0,
            priority: request.priority,
            cpu,
        };
        // SAFETY: plain numbers, for which zeros are values; acquire fills them.
        let mut realtime = unsafe { core::mem::zeroed() };
        Error::check(unsafe { sys::timebase_realtime_acquire(&mut realtime, &request) })?;
        Ok(Self { realtime, thread: PhantomData })
    }

    /// What was granted.
    pub fn granted(&self) -> RealtimeSettings {
        RealtimeSettings(self.realtime.granted)
    }

    /// What was refused, and why.
    pub fn refused(&self) -> impl Iterator<Item = Refusal> + '_ {
        RealtimeSettings(self.realtime.refused).iter().filter_map(|setting| {
            let errno = self.realtime.reason_errno.get(setting.0.trailing_zeros() as usize)?;
            Some(Refusal { setting, reason: std::io::Error::from_raw_os_error(*errno) })
        })
    }

    /// The CPU the thread is pinned to.
    pub fn cpu(&self) -> Option<u32> {
        u32::try_from(self.realtime.cpu).ok()
    }

    /// Gives all back, and says whether that went well; dropping does the same in silence.
    pub fn release(mut self) -> Result<(), Error> {
        self.give_back()
    }

    fn give_back(&mut self) -> Result<(), Error> {
        // SAFETY: acquired, or already given back, which has no effect.
        Error::check(unsafe { sys::timebase_realtime_release(&mut self.realtime) }).map(drop)
    }
}

impl Drop for Realtime {
    fn drop(&mut self) {
        let _ = self.give_back();
    }
}

impl core::fmt::Debug for Realtime {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Realtime").field("granted", &self.granted()).finish_non_exhaustive()
    }
}
