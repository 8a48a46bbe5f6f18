// SPDX-License-Identifier: MIT
//! The process' own clock, and reading it without a handle.

use super::Handle;
use crate::{AttachError, Clock, Instant, Interval, Page, Reading, Status, UtcTime, PAGE_PATH};
use core::sync::atomic::{AtomicPtr, Ordering};
use core::time::Duration;
use std::path::Path;
use std::sync::OnceLock;

static DEFAULT: OnceLock<Clock> = OnceLock::new();
/// The same clock's page, for the inline reads: one load.
static DEFAULT_PAGE: AtomicPtr<Page> = AtomicPtr::new(core::ptr::null_mut());

#[cold]
#[inline(never)]
fn learn_default_page() -> *const Page {
    let page = core::ptr::from_ref(default_clock().page());
    DEFAULT_PAGE.store(page.cast_mut(), Ordering::Relaxed);
    page
}

#[inline(always)]
fn default_page() -> &'static Page {
    let page: *const Page = DEFAULT_PAGE.load(Ordering::Relaxed);
    let page = if page.is_null() { learn_default_page() } else { page };
    // SAFETY: the page of the process' own clock, there from its start to its end.
    unsafe { &*page }
}

/// The process' own clock: the same each time. It keeps itself right, without a thread: about every
/// 100 ms of use one reader compares it with the kernel's clock, which takes a few µs.
pub fn default_clock() -> &'static Clock {
    DEFAULT.get_or_init(|| Clock::of_handle(Handle::private()))
}

impl Clock {
    /// The clock that all processes share if the daemon publishes one, else the process' own.
    pub fn new() -> Self {
        Self::attach(PAGE_PATH).unwrap_or_else(|_| Self::private())
    }

    /// The page in this file if it can be followed, else the process' own clock; and why not.
    pub fn attach_or_private(path: impl AsRef<Path>) -> (Self, Option<AttachError>) {
        match Self::attach(path) {
            Ok(clock) => (clock, None),
            Err(error) => (Self::private(), Some(error)),
        }
    }

    /// The process' own clock: [`default_clock`].
    pub fn private() -> Self {
        default_clock().clone()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! of_the_default_clock {
    ($($(#[$about:meta])* $name:ident -> $type:ty;)*) => {$(
        $(#[$about])*
        #[inline]
        pub fn $name() -> $type {
            match default_page().$name() {
                Some(value) => value,
                None => default_clock().$name(),
            }
        }
    )*};
}

of_the_default_clock! {
    /// UTC of the process' own clock: [`Clock::utc_ns`].
    utc_ns -> i64;
    /// UTC of the process' own clock, unordered: [`Clock::utc_ns_unordered`].
    utc_ns_unordered -> i64;
    /// Monotonic time of the process' own clock: [`Clock::mono_ns`].
    mono_ns -> i64;
    /// Monotonic time of the process' own clock, unordered: [`Clock::mono_ns_unordered`].
    mono_ns_unordered -> i64;
    /// TAI of the process' own clock: [`Clock::tai_ns`].
    tai_ns -> i64;
    /// TAI of the process' own clock, unordered: [`Clock::tai_ns_unordered`].
    tai_ns_unordered -> i64;
    /// All that a tick says by the process' own clock: [`Clock::now`].
    now -> Reading;
    /// Where true UTC is, by the process' own clock: [`Clock::utc_interval`].
    utc_interval -> (Interval, Status);
    /// Where `CLOCK_REALTIME` is, by the process' own clock: [`Clock::realtime_interval`].
    realtime_interval -> (Interval, Status);
}

/// UTC of the process' own clock in milliseconds, rounded down.
#[inline]
pub fn utc_ms() -> i64 {
    crate::ms_from_ns(utc_ns())
}

/// Monotonic time of the process' own clock in milliseconds, rounded down.
#[inline]
pub fn mono_ms() -> i64 {
    crate::ms_from_ns(mono_ns())
}

/// TAI of the process' own clock in milliseconds, rounded down.
#[inline]
pub fn tai_ms() -> i64 {
    crate::ms_from_ns(tai_ns())
}

impl Instant {
    /// Now, by the process' own clock.
    #[inline]
    pub fn now() -> Self {
        Self::from_mono_ns(mono_ns())
    }

    /// From this moment of the process' own clock until now.
    #[inline]
    pub fn elapsed(self) -> Duration {
        Self::now().duration_since(self)
    }
}

impl UtcTime {
    /// Now, by the process' own clock.
    #[inline]
    pub fn now() -> Self {
        Self::from_unix_ns(utc_ns())
    }
}
