// SPDX-License-Identifier: MIT
//! The time. A clock is a counter and a page.

use crate::mock::MockClock;
use crate::shared::SharedPage;
use crate::{AttachError, Instant, Interval, Page, Reading, Status, UtcTime};
use core::ptr::NonNull;
use std::path::Path;
use std::sync::Arc;

/// A clock: cheap to clone, to share between threads, and to read.
///
/// ```
/// # #[cfg(all(feature = "sys", not(any(miri, loom))))] {
/// use timebase::{Clock, Status};
///
/// let clock = Clock::new();
/// let stamp_ns = clock.utc_ns();
///
/// let (when, status) = clock.utc_interval();
/// if status == Status::Synchronized {
///     println!("true UTC was between {} and {}", when.earliest_ns, when.latest_ns);
/// }
///
/// let raw = timebase::ticks(); // now
/// let then = clock.at(raw);    // later, elsewhere
/// assert!(then.utc_ns >= stamp_ns - then.maxerror_ns as i64);
/// # }
/// ```
#[derive(Clone)]
pub struct Clock {
    /// What the inline reads follow; it lives as long as `kind` does.
    page: NonNull<Page>,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    /// A clock of the C library: the process' own, or an attached one.
    #[cfg(all(feature = "sys", not(any(miri, loom))))]
    C(Arc<crate::with_c::Handle>),
    Shared(Arc<SharedPage>),
    Mock(MockClock),
}

// SAFETY: the page is read by atomic operations alone, and each kind may be used by any thread.
unsafe impl Send for Clock {}
unsafe impl Sync for Clock {}

/// For clocks whose readings all take the slow path. It never has lines.
#[cfg(not(loom))]
fn empty_page() -> NonNull<Page> {
    use std::sync::OnceLock;
    static EMPTY: OnceLock<Page> = OnceLock::new();
    NonNull::from(EMPTY.get_or_init(Page::default))
}

#[cfg(loom)]
fn empty_page() -> NonNull<Page> {
    NonNull::from(Box::leak(Box::default()))
}

impl Clock {
    /// A clock that stands still, and what moves it.
    ///
    /// ```
    /// let (clock, mock) = timebase::Clock::mock();
    /// mock.advance(std::time::Duration::from_secs(5));
    /// assert_eq!(clock.mono_ns(), 5_000_000_000);
    /// ```
    pub fn mock() -> (Self, MockClock) {
        let mock = MockClock::new();
        let kind = Kind::Mock(mock.clone());
        (Self { page: empty_page(), kind }, mock)
    }

    /// Follows the page that another process publishes, [`PAGE_PATH`](crate::PAGE_PATH) as a rule.
    /// Readings then mean the same to all processes that are attached. With the feature `sys` the C
    /// library renews the copy, else this crate does: see [`SharedPage`] for the difference.
    pub fn attach(path: impl AsRef<Path>) -> Result<Self, AttachError> {
        #[cfg(all(feature = "sys", not(any(miri, loom))))]
        {
            let path = path.as_ref();
            let handle = crate::with_c::Handle::attach(path)
                .map_err(|error| AttachError::new(path, error))?;
            Ok(Self::of_handle(handle))
        }
        #[cfg(not(all(feature = "sys", not(any(miri, loom)))))]
        Self::attach_without_c(path)
    }

    /// The same in Rust alone, whatever the features.
    pub fn attach_without_c(path: impl AsRef<Path>) -> Result<Self, AttachError> {
        SharedPage::attach(path).map(Self::from)
    }

    #[cfg(all(feature = "sys", not(any(miri, loom))))]
    pub(crate) fn of_handle(handle: crate::with_c::Handle) -> Self {
        let page = NonNull::from(handle.page());
        Self { page, kind: Kind::C(Arc::new(handle)) }
    }

    /// The C library's clock, if this is one.
    #[cfg(all(feature = "sys", not(any(miri, loom))))]
    pub(crate) fn handle(&self) -> Option<&Arc<crate::with_c::Handle>> {
        match &self.kind {
            Kind::C(handle) => Some(handle),
            _ => None,
        }
    }

    /// The page that readings follow. Of a mock it is empty.
    #[inline(always)]
    pub fn page(&self) -> &Page {
        // SAFETY: it lives as long as `kind`: the library's own for ever, an attached one and a
        // shared one as long as their owner, the empty one for ever.
        unsafe { self.page.as_ref() }
    }

    #[cold]
    #[inline(never)]
    fn now_slow(&self) -> Reading {
        match &self.kind {
            #[cfg(all(feature = "sys", not(any(miri, loom))))]
            Kind::C(handle) => handle.now_slow(),
            Kind::Shared(shared) => shared.now_slow(),
            Kind::Mock(mock) => mock.now(),
        }
    }

    #[cold]
    #[inline(never)]
    fn utc_ns_slow(&self) -> i64 {
        self.now_slow().utc_ns
    }

    #[cold]
    #[inline(never)]
    fn mono_ns_slow(&self) -> i64 {
        self.now_slow().mono_ns
    }

    #[cold]
    #[inline(never)]
    fn tai_ns_slow(&self) -> i64 {
        self.now_slow().tai_ns()
    }

    #[cold]
    #[inline(never)]
    fn interval_slow(&self, of: fn(&Reading) -> Interval) -> (Interval, Status) {
        let reading = self.now_slow();
        (of(&reading), reading.status())
    }

    /// One tick, and everything it says. Ordered after all earlier loads.
    #[inline]
    pub fn now(&self) -> Reading {
        match self.page().now() {
            Some(reading) => reading,
            None => self.now_slow(),
        }
    }

    /// Nanoseconds since 1970-01-01 UTC, as `CLOCK_REALTIME` counts them. Ordered.
    #[inline]
    pub fn utc_ns(&self) -> i64 {
        match self.page().utc_ns() {
            Some(ns) => ns,
            None => self.utc_ns_slow(),
        }
    }

    /// The same, by the cheapest read, which orders nothing.
    #[inline]
    pub fn utc_ns_unordered(&self) -> i64 {
        match self.page().utc_ns_unordered() {
            Some(ns) => ns,
            None => self.utc_ns_slow(),
        }
    }

    /// UTC, as a time that prints itself. Ordered.
    #[inline]
    pub fn utc(&self) -> UtcTime {
        UtcTime::from_unix_ns(self.utc_ns())
    }

    /// Milliseconds since 1970-01-01 UTC, rounded down.
    #[inline]
    pub fn utc_ms(&self) -> i64 {
        crate::ms_from_ns(self.utc_ns())
    }

    /// Nanoseconds since boot, suspend not counted: follows `CLOCK_MONOTONIC`, never steps, never
    /// goes back. Ordered.
    #[inline]
    pub fn mono_ns(&self) -> i64 {
        match self.page().mono_ns() {
            Some(ns) => ns,
            None => self.mono_ns_slow(),
        }
    }

    /// The same, by the cheapest read, which orders nothing.
    #[inline]
    pub fn mono_ns_unordered(&self) -> i64 {
        match self.page().mono_ns_unordered() {
            Some(ns) => ns,
            None => self.mono_ns_slow(),
        }
    }

    /// Monotonic time, as a moment to measure from. Ordered.
    #[inline]
    pub fn instant(&self) -> Instant {
        Instant::from_mono_ns(self.mono_ns())
    }

    /// Milliseconds since boot, rounded down.
    #[inline]
    pub fn mono_ms(&self) -> i64 {
        crate::ms_from_ns(self.mono_ns())
    }

    /// Nanoseconds since 1970-01-01 TAI. Equal to UTC while nobody has told the kernel the
    /// difference. Ordered.
    #[inline]
    pub fn tai_ns(&self) -> i64 {
        match self.page().tai_ns() {
            Some(ns) => ns,
            None => self.tai_ns_slow(),
        }
    }

    /// The same, by the cheapest read, which orders nothing.
    #[inline]
    pub fn tai_ns_unordered(&self) -> i64 {
        match self.page().tai_ns_unordered() {
            Some(ns) => ns,
            None => self.tai_ns_slow(),
        }
    }

    /// Milliseconds since 1970-01-01 TAI, rounded down.
    #[inline]
    pub fn tai_ms(&self) -> i64 {
        crate::ms_from_ns(self.tai_ns())
    }

    /// Where true UTC is, as far as the reference knows itself. A promise only if the status is
    /// [`Status::Synchronized`], and [`Clock::now`] does not flag an estimate.
    #[inline]
    pub fn utc_interval(&self) -> (Interval, Status) {
        match self.page().utc_interval() {
            Some(interval) => interval,
            None => self.interval_slow(Reading::utc_interval),
        }
    }

    /// Where `CLOCK_REALTIME` is: only the error of following it. No promise if the status is
    /// unknown or unreliable.
    #[inline]
    pub fn realtime_interval(&self) -> (Interval, Status) {
        match self.page().realtime_interval() {
            Some(interval) => interval,
            None => self.interval_slow(Reading::realtime_interval),
        }
    }

    /// What a tick of another moment says. Exact for the last 60 to 160 ms of a clock in use; for
    /// older and future ones the nearest line is drawn on, and the bound grows.
    pub fn at(&self, ticks: u64) -> Reading {
        match &self.kind {
            #[cfg(all(feature = "sys", not(any(miri, loom))))]
            Kind::C(handle) => handle.at(ticks),
            Kind::Shared(shared) => shared.at(ticks),
            Kind::Mock(mock) => mock.at(ticks),
        }
    }

    /// The first tick at which the clock will show, or showed, this UTC or a later one.
    pub fn ticks_at_utc(&self, utc_ns: i64) -> u64 {
        match &self.kind {
            #[cfg(all(feature = "sys", not(any(miri, loom))))]
            Kind::C(handle) => handle.ticks_at_utc(utc_ns),
            Kind::Shared(shared) => shared.ticks_at_utc(utc_ns),
            Kind::Mock(mock) => mock.ticks_at_utc(utc_ns),
        }
    }

    /// The same of monotonic time.
    pub fn ticks_at_mono(&self, mono_ns: i64) -> u64 {
        match &self.kind {
            #[cfg(all(feature = "sys", not(any(miri, loom))))]
            Kind::C(handle) => handle.ticks_at_mono(mono_ns),
            Kind::Shared(shared) => shared.ticks_at_mono(mono_ns),
            Kind::Mock(_) => mono_ns as u64,
        }
    }
}

impl From<SharedPage> for Clock {
    fn from(shared: SharedPage) -> Self {
        let shared = Arc::new(shared);
        Self { page: NonNull::from(shared.page()), kind: Kind::Shared(shared) }
    }
}

impl core::fmt::Debug for Clock {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let kind = match &self.kind {
            #[cfg(all(feature = "sys", not(any(miri, loom))))]
            Kind::C(_) => "C",
            Kind::Shared(_) => "shared",
            Kind::Mock(_) => "mock",
        };
        f.debug_struct("Clock").field("kind", &kind).finish_non_exhaustive()
    }
}
