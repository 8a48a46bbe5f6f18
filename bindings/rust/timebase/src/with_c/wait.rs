// SPDX-License-Identifier: MIT
//! Begin at a tick.

use super::wait_flags::{Disturbances, Mechanism, WaitFlags};
use crate::{Clock, Error, Instant, UtcTime};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::time::Duration;
use std::any::Any;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use timebase_sys as sys;

/// Waits until an exact tick, and calls closures there.
///
/// ```
/// use timebase::{Clock, Instant, WaitFlags, Waiter};
/// use std::time::Duration;
///
/// let mut waiter = Waiter::new(&Clock::private())?; // learns the machine, some 20 ms
/// let target = Instant::now() + Duration::from_millis(2);
/// let mut begun = 0;
/// let result = waiter.call_at_mono(target, WaitFlags::SLEEP | WaitFlags::PREPARE, || begun += 1)?;
/// println!("{begun}: {:+.1} ns", result.error_ns);
/// # Ok::<(), timebase::Error>(())
/// ```
///
/// A waiter belongs to the thread that made it and to the CPU on which it was calibrated: pin the
/// thread first. A wait by a closure that panics ends; then the panic goes on.
pub struct Waiter {
    /// In a place of its own: it must not move. C learns by describing it and by reading, too.
    waiter: Box<UnsafeCell<sys::timebase_waiter>>,
    /// What it converts by.
    clock: Clock,
    /// Not for other threads.
    thread: PhantomData<*const ()>,
}

/// What happened. All of it is about this wait alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitResult {
    /// The target as a tick.
    pub target_ticks: u64,
    /// The counter's last reading before the event.
    pub event_ticks: u64,
    /// Event − target; more than 0: late.
    pub error_ticks: i64,
    /// The same in nanoseconds.
    pub error_ns: f64,
    /// ±, of the reading: half a step of the counter.
    pub error_bound_ns: f64,
    /// Sleeping waits: wake-up after the time asked for.
    pub wake_ns: i64,
    /// Sleeping waits: the margin used.
    pub margin_ns: i64,
    /// What carried it over its last nanoseconds.
    pub mechanism: Mechanism,
    /// The last approach began too late.
    pub is_late: bool,
    /// Evidence of a disturbance.
    pub disturbances: Disturbances,
    /// There was time to prepare.
    pub is_prepared: bool,
}

/// What a waiter has learnt of its machine, as C has it.
pub type WaiterDescription = sys::timebase_waiter_description;

/// The counter, read more finely than its step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FineReading {
    /// Since the base.
    pub ticks: f64,
    /// ±.
    pub bound_ticks: f64,
    /// When its last reading was: laps begin here.
    pub last_ticks: f64,
    /// Were the readings evenly spaced? Else the bound is a whole step.
    pub is_even: bool,
}

/// Readings of the counter, before anybody has found what they say.
#[derive(Clone, Copy, Debug)]
pub struct FineReadings(sys::timebase_fine_readings);

impl From<sys::timebase_wait_result> for WaitResult {
    fn from(result: sys::timebase_wait_result) -> Self {
        Self {
            target_ticks: result.target_ticks,
            event_ticks: result.event_ticks,
            error_ticks: result.error_ticks,
            error_ns: result.error_ns,
            error_bound_ns: result.error_bound_ns,
            wake_ns: result.wake_ns,
            margin_ns: result.margin_ns,
            mechanism: Mechanism::of(result.mechanism),
            is_late: result.late != 0,
            disturbances: Disturbances(result.disturbance),
            is_prepared: result.prepared != 0,
        }
    }
}

/// A closure on its way through C, and the panic that it ended with.
struct Call<F> {
    function: F,
    panic: Option<Box<dyn Any + Send>>,
}

impl<F: FnMut()> Call<F> {
    /// The event. A closure that panicked in the rehearsal is not called again.
    extern "C" fn event(argument: *mut c_void) {
        // SAFETY: `call` below gave it; nobody else has it meanwhile.
        let call = unsafe { &mut *argument.cast::<Self>() };
        if call.panic.is_none() {
            call.panic = catch_unwind(AssertUnwindSafe(&mut call.function)).err();
        }
    }
}

type Raw = *mut sys::timebase_wait_result;

impl Waiter {
    /// Learns the machine: core clock, loop period, table. At most 10 ms.
    /// [`Error::Unsupported`] for a clock that is attached without C, or a mock.
    pub fn new(clock: &Clock) -> Result<Self, Error> {
        let handle = clock.handle().ok_or(Error::Unsupported)?;
        // SAFETY: opaque numbers; init fills them. The clock lives as long as the waiter.
        let waiter: Box<UnsafeCell<sys::timebase_waiter>> =
            Box::new(UnsafeCell::new(unsafe { core::mem::zeroed() }));
        Error::check(unsafe { sys::timebase_waiter_init(waiter.get(), handle.as_ptr()) })?;
        Ok(Self { waiter, clock: clock.clone(), thread: PhantomData })
    }

    /// The clock that it converts by.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Learns again, e.g. after pinning the thread elsewhere.
    pub fn calibrate(&mut self) -> Result<(), Error> {
        // SAFETY: an initialised waiter, here and below.
        Error::check(unsafe { sys::timebase_waiter_calibrate(self.waiter.get()) }).map(drop)
    }

    /// How sleeping waits choose their margin: the quantile of wake-up latencies that it should
    /// cover, and the share of a period that may be spent polling.
    pub fn set_margin(&mut self, quantile: f64, cpu_share: f64) -> Result<(), Error> {
        let waiter = self.waiter.get();
        Error::check(unsafe { sys::timebase_waiter_set_margin(waiter, quantile, cpu_share) })
            .map(drop)
    }

    /// What it has learnt of its machine.
    pub fn describe(&self) -> Result<WaiterDescription, Error> {
        // SAFETY: plain numbers, for which zeros are values.
        let mut out = unsafe { core::mem::zeroed() };
        Error::check(unsafe { sys::timebase_waiter_describe(self.waiter.get(), &mut out) })?;
        Ok(out)
    }

    fn done(
        &mut self,
        wait: impl FnOnce(*mut sys::timebase_waiter, Raw) -> i32,
    ) -> Result<WaitResult, Error> {
        // SAFETY: plain numbers, for which zeros are values.
        let mut result: sys::timebase_wait_result = unsafe { core::mem::zeroed() };
        Error::check(wait(self.waiter.get(), &mut result))?;
        Ok(result.into())
    }

    /// Waits until a tick. If the target has passed, returns at once: `is_late`.
    pub fn wait_until_ticks(&mut self, target: u64, flags: WaitFlags) -> Result<WaitResult, Error> {
        // SAFETY: an initialised waiter and room for the result, here and below.
        self.done(|waiter, result| unsafe {
            sys::timebase_wait_until_ticks(waiter, target, flags.0, result)
        })
    }

    /// Waits until a moment of the clock's monotonic time.
    pub fn wait_until_mono(
        &mut self,
        target: Instant,
        flags: WaitFlags,
    ) -> Result<WaitResult, Error> {
        self.done(|waiter, result| unsafe {
            sys::timebase_wait_until_mono(waiter, target.mono_ns(), flags.0, result)
        })
    }

    /// Waits until a time of UTC; follows steps and slews of the clock until the last moment.
    pub fn wait_until_utc(
        &mut self,
        target: UtcTime,
        flags: WaitFlags,
    ) -> Result<WaitResult, Error> {
        self.done(|waiter, result| unsafe {
            sys::timebase_wait_until_utc(waiter, target.unix_ns(), flags.0, result)
        })
    }

    fn call<F: FnMut()>(
        &mut self,
        function: F,
        wait: impl FnOnce(
            *mut sys::timebase_waiter,
            Option<unsafe extern "C" fn(*mut c_void)>,
            *mut c_void,
            Raw,
        ) -> i32,
    ) -> Result<WaitResult, Error> {
        let mut call = Call { function, panic: None };
        let argument = core::ptr::from_mut(&mut call).cast();
        let result =
            self.done(|waiter, result| wait(waiter, Some(Call::<F>::event), argument, result));
        match call.panic {
            Some(panic) => resume_unwind(panic),
            None => result,
        }
    }

    /// Calls the closure at a tick: the event is its first instruction. Late calls are made all the
    /// same.
    pub fn call_at_ticks(
        &mut self,
        target: u64,
        flags: WaitFlags,
        function: impl FnMut(),
    ) -> Result<WaitResult, Error> {
        self.call(function, |waiter, event, argument, result| unsafe {
            sys::timebase_wait_call_ticks(waiter, target, flags.0, event, argument, result)
        })
    }

    /// Calls the closure at a moment of the clock's monotonic time.
    pub fn call_at_mono(
        &mut self,
        target: Instant,
        flags: WaitFlags,
        function: impl FnMut(),
    ) -> Result<WaitResult, Error> {
        self.call(function, |waiter, event, argument, result| unsafe {
            let target = target.mono_ns();
            sys::timebase_wait_call_mono(waiter, target, flags.0, event, argument, result)
        })
    }

    /// Calls the closure at a time of UTC.
    pub fn call_at_utc(
        &mut self,
        target: UtcTime,
        flags: WaitFlags,
        function: impl FnMut(),
    ) -> Result<WaitResult, Error> {
        self.call(function, |waiter, event, argument, result| unsafe {
            let target = target.unix_ns();
            sys::timebase_wait_call_utc(waiter, target, flags.0, event, argument, result)
        })
    }

    /// Waits for so long, from the call to the return. Below the cost of the call, some 10 ns, it
    /// returns at once. Gives whether it was in time.
    #[inline]
    pub fn delay(&mut self, duration: Duration, flags: WaitFlags) -> Result<bool, Error> {
        let begin_ticks = crate::ticks_ordered();
        let ns = u64::try_from(duration.as_nanos()).map_err(|_| Error::Invalid)?;
        let (waiter, none) = (self.waiter.get(), core::ptr::null_mut());
        // SAFETY: an initialised waiter; no result is wanted.
        Error::check(unsafe { sys::timebase_delay_ns_from(waiter, ns, flags.0, none, begin_ticks) })
            .map(|late| late == 0)
    }

    /// The same, and how it went: such a delay takes at least some 80 ns.
    pub fn delay_measured(
        &mut self,
        duration: Duration,
        flags: WaitFlags,
    ) -> Result<WaitResult, Error> {
        let begin_ticks = crate::ticks_ordered();
        let ns = u64::try_from(duration.as_nanos()).map_err(|_| Error::Invalid)?;
        self.done(|waiter, result| unsafe {
            sys::timebase_delay_ns_from(waiter, ns, flags.0, result, begin_ticks)
        })
    }

    /// Reads the counter more finely than its step, in about 1 µs.
    pub fn read_fine(&self, base_ticks: u64) -> Result<FineReading, Error> {
        self.fine(|waiter, out| unsafe { sys::timebase_wait_read_fine(waiter, base_ticks, out) })
    }

    /// The first half of [`Waiter::read_fine`]: reads the counter, and nothing else. What lies between
    /// two that were taken is `second.ticks - first.last_ticks`, once both have been placed.
    pub fn take_fine(&self) -> Result<FineReadings, Error> {
        let mut out = sys::timebase_fine_readings { ticks: [0; 32] };
        // SAFETY: an initialised waiter and room for the readings.
        Error::check(unsafe { sys::timebase_wait_take_fine(self.waiter.get(), &mut out) })?;
        Ok(FineReadings(out))
    }

    /// The second half, at any later time.
    pub fn place_fine(&self, taken: &FineReadings, base_ticks: u64) -> Result<FineReading, Error> {
        self.fine(|waiter, out| unsafe {
            sys::timebase_wait_place_fine(waiter, &taken.0, base_ticks, out)
        })
    }

    /// `read` is given an initialised waiter and room for a reading.
    fn fine(
        &self,
        read: impl FnOnce(*const sys::timebase_waiter, &mut sys::timebase_fine_reading) -> i32,
    ) -> Result<FineReading, Error> {
        let mut out = sys::timebase_fine_reading { ticks: 0.0, bound_ticks: 0.0, last_ticks: 0.0 };
        let is_even = Error::check(read(self.waiter.get(), &mut out))? == 0;
        Ok(FineReading {
            ticks: out.ticks,
            bound_ticks: out.bound_ticks,
            last_ticks: out.last_ticks,
            is_even,
        })
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut sys::timebase_waiter {
        self.waiter.get()
    }

    pub(super) fn as_ptr(&self) -> *const sys::timebase_waiter {
        self.waiter.get()
    }
}

/// True while [`WaitFlags::REHEARSE`] calls a closure beforehand: it should touch its code and
/// data, and have no effect.
pub fn rehearsing() -> bool {
    // SAFETY: no conditions.
    unsafe { sys::timebase_wait_rehearsing() != 0 }
}

impl core::fmt::Debug for Waiter {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Waiter").field("clock", &self.clock).finish_non_exhaustive()
    }
}
