// SPDX-License-Identifier: MIT
//! Units of work, each begun at its time.

use super::text;
use super::wait_flags::{bits, Disturbances, WaitFlags};
use super::{TickComb, Waiter};
use crate::{Error, Instant};
use core::ffi::{c_void, CStr};
use core::ops::{BitOr, BitOrAssign};
use core::sync::atomic::{AtomicI32, Ordering};
use core::time::Duration;
use std::any::Any;
use std::ffi::CString;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::Arc;
use timebase_sys as sys;

/// Problems that are kept; more are only counted by C.
const PROBLEMS_MAX: usize = 64;

/// One elemental unit: a closure that begins at known times and that no other unit interrupts.
pub struct Unit<'a> {
    name: CString,
    action: Box<dyn FnMut() + 'a>,
    unit: sys::timebase_unit,
}

fn ns(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

impl<'a> Unit<'a> {
    /// A unit that runs no longer than `duration`. A zero byte in the name ends it there.
    pub fn new(name: &str, duration: Duration, action: impl FnMut() + 'a) -> Self {
        let name = name.split('\0').next().unwrap_or_default();
        // SAFETY: numbers, null pointers and no function, until the run fills them in.
        let mut unit: sys::timebase_unit = unsafe { core::mem::zeroed() };
        unit.duration_ns = ns(duration);
        Self { name: CString::new(name).unwrap_or_default(), action: Box::new(action), unit }
    }

    /// The first release, after the calendar's start.
    #[must_use]
    pub fn ready(mut self, after_start: Duration) -> Self {
        self.unit.ready_ns = ns(after_start);
        self
    }

    /// Between releases; without it the unit is released once.
    #[must_use]
    pub fn period(mut self, period: Duration) -> Self {
        self.unit.period_ns = ns(period);
        self
    }

    /// Done within this of its release; else the period.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.unit.deadline_ns = ns(deadline);
        self
    }

    /// How many releases; else as long as the calendar runs.
    #[must_use]
    pub fn releases(mut self, releases: u64) -> Self {
        self.unit.releases = releases;
        self
    }

    /// How its waits are done.
    #[must_use]
    pub fn flags(mut self, flags: WaitFlags) -> Self {
        self.unit.flags = flags.0;
        self
    }

    /// Stopped after running so long, by a signal and `siglongjmp()`.
    ///
    /// # Safety
    ///
    /// The closure may be left at any instruction: it holds no lock, allocates nothing, has no
    /// value whose destructor must run, and leaves nothing half-done. A panic in it ends the
    /// program.
    #[must_use]
    pub unsafe fn timeout(mut self, timeout: Duration) -> Self {
        self.unit.timeout_ns = ns(timeout);
        self
    }
}

impl core::fmt::Debug for Unit<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Unit").field("name", &self.name).finish_non_exhaustive()
    }
}

bits! {
    /// How a release went.
    ReleaseBits {
        /// No time for the last approach.
        LATE = sys::TIMEBASE_RELEASE_LATE;
        /// Ran longer than its duration.
        OVERRUN = sys::TIMEBASE_RELEASE_OVERRUN;
        /// Ended after its deadline.
        MISSED = sys::TIMEBASE_RELEASE_MISSED;
        /// Stopped at its time-out.
        TIMED_OUT = sys::TIMEBASE_RELEASE_TIMED_OUT;
        /// Not run: its deadline had passed.
        SKIPPED = sys::TIMEBASE_RELEASE_SKIPPED;
        /// The wait has evidence of a disturbance.
        DISTURBED = sys::TIMEBASE_RELEASE_DISTURBED;
    }
}

impl ReleaseBits {
    /// "late", of one bit.
    pub fn name(self) -> &'static str {
        // SAFETY: constant text for every number.
        unsafe { text(sys::timebase_release_name(self.0 as i32)) }
    }
}

/// One release; or, if skipped, `count` of them in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Release {
    /// Index of the unit.
    pub unit: usize,
    /// How it went.
    pub outcome: ReleaseBits,
    /// Of the unit's releases, from 0.
    pub number: u64,
    /// 1, or how many were skipped together.
    pub count: u64,
    /// When it should begin, monotonic.
    pub target_ns: i64,
    /// When it was over; 0 if skipped.
    pub end_ns: i64,
    /// Begin − target.
    pub error_ns: f32,
    /// Evidence of a disturbance.
    pub disturbances: Disturbances,
}

/// Why a calendar is not admitted, or is doubtful.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// "overlap", "deadline".
    pub kind: &'static str,
    /// It may run all the same.
    pub is_warning: bool,
    /// Index of the unit at fault.
    pub unit: usize,
    /// The other one of an overlap or short gap, else the same.
    pub other: usize,
    /// Where, after the calendar's start; 0 if everywhere.
    pub at_ns: i64,
    /// What is wrong and what to do.
    pub text: String,
}

impl From<&sys::timebase_calendar_problem> for Problem {
    fn from(problem: &sys::timebase_calendar_problem) -> Self {
        // SAFETY: text that C has terminated within the array; constant text for every number.
        let (text_of, kind) = unsafe {
            let kind = sys::timebase_calendar_problem_name(problem.kind);
            (CStr::from_ptr(problem.text.as_ptr()), text(kind))
        };
        Self {
            kind,
            is_warning: problem.warning != 0,
            unit: problem.unit as usize,
            other: problem.other as usize,
            at_ns: problem.at_ns,
            text: text_of.to_string_lossy().into_owned(),
        }
    }
}

/// A calendar was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotRun {
    /// There are problems that are no warnings.
    NotAdmitted(Vec<Problem>),
    /// The C library's reason. With [`Error::Invalid`] and [`Error::Unsupported`] part of it may
    /// have been run.
    Failed(Error),
}

impl core::fmt::Display for NotRun {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Failed(error) => core::fmt::Display::fmt(error, f),
            Self::NotAdmitted(problems) => {
                f.write_str("not admitted")?;
                let faults = problems.iter().filter(|problem| !problem.is_warning);
                faults.take(1).try_for_each(|fault| write!(f, ": {}", fault.text))
            }
        }
    }
}

impl core::error::Error for NotRun {}

/// What became of a unit.
#[derive(Clone, Copy, Debug)]
pub struct UnitResult(pub sys::timebase_unit_result);

impl UnitResult {
    /// How often it was run.
    pub fn released(&self) -> u64 {
        self.0.released
    }

    /// How often it was not, because its deadline had passed.
    pub fn skipped(&self) -> u64 {
        self.0.skipped
    }

    /// How often it ended after its deadline.
    pub fn missed(&self) -> u64 {
        self.0.missed
    }

    /// The error that so much of all releases stayed below.
    pub fn quantile_ns(&self, share: f64) -> f64 {
        let mut counted = 0;
        for (bucket, errors) in (1..).zip(self.0.errors) {
            counted += errors;
            if counted as f64 >= share * self.0.released as f64 {
                return calendar_bucket_ns(bucket);
            }
        }
        calendar_bucket_ns(sys::TIMEBASE_CALENDAR_BUCKETS as i32)
    }
}

/// The lower end of a bucket of [`UnitResult`]'s errors.
pub fn calendar_bucket_ns(bucket: i32) -> f64 {
    // SAFETY: no conditions.
    unsafe { sys::timebase_calendar_bucket_ns(bucket) }
}

/// A table of units and the times at which each begins, on the calling thread.
///
/// ```
/// use std::time::Duration;
/// use timebase::{Calendar, Clock, Unit, Waiter};
///
/// let mut count = 0;
/// let (us, ms) = (Duration::from_micros, Duration::from_millis);
/// let mut calendar = Calendar::new();
/// calendar.unit(Unit::new("count", us(20), || count += 1).period(ms(1)));
/// calendar.length(ms(5));
///
/// let mut waiter = Waiter::new(&Clock::private())?;
/// let results = calendar.run(&mut waiter)?;
/// assert_eq!(results[0].released() + results[0].skipped(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Units run one after the other, in the order of their ready times. A unit that panics ends the
/// run, and its panic goes on.
#[derive(Debug, Default)]
pub struct Calendar<'a> {
    units: Vec<Unit<'a>>,
    may_overlap: bool,
    avoid_tick: bool,
    comb: Option<TickComb>,
    start_ns: i64,
    length_ns: i64,
    utilisation: f64,
    log_capacity: u32,
    log: Vec<Release>,
    stop: Arc<AtomicI32>,
}

/// A unit's closure on its way through C.
struct Action<'c, 'a> {
    function: &'c mut (dyn FnMut() + 'a),
    panic: Option<Box<dyn Any + Send>>,
    stop: &'c AtomicI32,
}

extern "C" fn act(argument: *mut c_void) {
    // SAFETY: `with_c` gave it; the dispatcher's thread alone has it meanwhile.
    let action = unsafe { &mut *argument.cast::<Action<'_, '_>>() };
    if action.panic.is_none() {
        action.panic = catch_unwind(AssertUnwindSafe(&mut *action.function)).err();
        if action.panic.is_some() {
            action.stop.store(1, Ordering::Release);
        }
    }
}

/// Without anything that must be unwound: siglongjmp() may leave it. A panic ends the program, as
/// in every `extern "C"` function.
extern "C" fn act_until_timeout(argument: *mut c_void) {
    // SAFETY: as above.
    let action = unsafe { &mut *argument.cast::<Action<'_, '_>>() };
    (action.function)();
}

impl<'a> Calendar<'a> {
    /// Without units.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a unit; its index is the number of those before it.
    pub fn unit(&mut self, unit: Unit<'a>) -> &mut Self {
        self.units.push(unit);
        self
    }

    /// Units may have to wait for each other as long as all deadlines are met.
    pub fn may_overlap(&mut self, may_overlap: bool) -> &mut Self {
        self.may_overlap = may_overlap;
        self
    }

    /// Keeps units off the kernel's tick.
    pub fn avoid_tick(&mut self, comb: TickComb) -> &mut Self {
        self.comb = Some(comb);
        self.avoid_tick = true;
        self
    }

    /// When it starts, some ms ahead; else as soon as possible.
    pub fn start(&mut self, start: Instant) -> &mut Self {
        self.start_ns = start.mono_ns();
        self
    }

    /// No release is ready so long after the start or later.
    pub fn length(&mut self, length: Duration) -> &mut Self {
        self.length_ns = ns(length);
        self
    }

    /// Highest admissible share of the time, (0, 1].
    pub fn utilisation(&mut self, utilisation: f64) -> &mut Self {
        self.utilisation = utilisation;
        self
    }

    /// Keeps so many of the first releases of each run: a power of two.
    pub fn log_releases(&mut self, capacity: u32) -> &mut Self {
        self.log_capacity = capacity;
        self
    }

    /// The releases of the last run.
    pub fn log(&self) -> &[Release] {
        &self.log
    }

    /// What ends the run when it is not 0; any thread and any signal handler may store there.
    pub fn stop(&self) -> Arc<AtomicI32> {
        self.stop.clone()
    }

    /// Fills in what C looks at, and calls.
    fn with_c<T>(&mut self, then: impl FnOnce(&mut sys::timebase_calendar) -> T) -> T {
        let stop = self.stop.clone();
        let mut actions: Vec<Action<'_, 'a>> = Vec::with_capacity(self.units.len());
        let mut units: Vec<sys::timebase_unit> = Vec::with_capacity(self.units.len());
        for unit in &mut self.units {
            actions.push(Action { function: &mut *unit.action, panic: None, stop: &stop });
            let has_timeout = unit.unit.timeout_ns != 0;
            units.push(sys::timebase_unit {
                name: unit.name.as_ptr(),
                action: Some(if has_timeout { act_until_timeout } else { act }),
                ..unit.unit
            });
        }
        let first = actions.as_mut_ptr();
        for (n, unit) in units.iter_mut().enumerate() {
            // SAFETY: within the vector, which does not grow any more.
            unit.argument = unsafe { first.add(n) }.cast();
        }
        let mut calendar = sys::timebase_calendar {
            units: units.as_ptr(),
            unit_count: units.len() as u32,
            may_overlap: self.may_overlap.into(),
            avoid_tick: self.avoid_tick.into(),
            unused: 0,
            comb: self.comb.as_ref().map_or(core::ptr::null(), |comb| &comb.0),
            start_ns: self.start_ns,
            length_ns: self.length_ns,
            utilisation: self.utilisation,
            log: core::ptr::null_mut(),
            stop: stop.as_ptr(),
        };
        let result = then(&mut calendar);
        match actions.iter_mut().find_map(|action| action.panic.take()) {
            Some(panic) => {
                stop.store(0, Ordering::Release); // it was the panic that had stopped it
                resume_unwind(panic)
            }
            None => result,
        }
    }

    /// Checks before it starts. Without a waiter nothing is said about what the machine can do.
    pub fn admit(&mut self, waiter: Option<&Waiter>) -> Result<Vec<Problem>, Error> {
        self.with_c(|calendar| {
            let waiter = waiter.map_or(core::ptr::null(), Waiter::as_ptr);
            // SAFETY: plain numbers and text, for which zeros are values.
            let mut problems: Vec<sys::timebase_calendar_problem> =
                vec![unsafe { core::mem::zeroed() }; PROBLEMS_MAX];
            // SAFETY: all that it points to lives until this returns.
            let count = Error::check(unsafe {
                let room = problems.as_mut_ptr();
                sys::timebase_calendar_admit(calendar, waiter, room, PROBLEMS_MAX as i32)
            })?;
            problems.truncate(count as usize);
            Ok(problems.iter().map(Problem::from).collect())
        })
    }

    /// Runs on this thread, which should be pinned and real-time ([`Realtime`](super::Realtime)),
    /// until all releases are done, the length is over, or it is stopped.
    pub fn run(&mut self, waiter: &mut Waiter) -> Result<Vec<UnitResult>, NotRun> {
        // SAFETY: plain numbers, for which zeros are values.
        let (zero, empty) = unsafe { (core::mem::zeroed(), core::mem::zeroed()) };
        let mut results: Vec<sys::timebase_unit_result> = vec![zero; self.units.len()];
        let mut entries: Vec<sys::timebase_release> = vec![empty; self.log_capacity as usize];
        let mut log = sys::timebase_release_log {
            entries: entries.as_mut_ptr(),
            capacity: self.log_capacity,
            written: 0,
            read: 0,
            lost: 0,
        };
        let is_logging = self.log_capacity != 0;
        let code = self.with_c(|calendar| {
            if is_logging {
                calendar.log = &mut log;
            }
            // SAFETY: all that it points to lives until this returns.
            unsafe {
                sys::timebase_calendar_run(calendar, waiter.as_mut_ptr(), results.as_mut_ptr())
            }
        });
        self.log = entries[..log.written as usize].iter().map(Release::from).collect();
        match Error::check(code) {
            Ok(0) => Ok(results.into_iter().map(UnitResult).collect()),
            Ok(_) => Err(NotRun::NotAdmitted(self.admit(Some(waiter)).unwrap_or_default())),
            Err(error) => Err(NotRun::Failed(error)),
        }
    }
}

impl From<&sys::timebase_release> for Release {
    fn from(release: &sys::timebase_release) -> Self {
        Self {
            unit: release.unit as usize,
            outcome: ReleaseBits(release.outcome),
            number: release.number,
            count: release.count,
            target_ns: release.target_ns,
            end_ns: release.end_ns,
            error_ns: release.error_ns,
            disturbances: Disturbances(release.disturbance),
        }
    }
}
