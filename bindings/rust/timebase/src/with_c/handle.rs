// SPDX-License-Identifier: MIT
//! A clock of the C library: its handle is the address of its page.

use crate::reading::Flags;
use crate::{Error, Page, Reading};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use timebase_sys as sys;

/// Valid as long as it lives; given back at the end if it was attached.
pub(crate) struct Handle {
    clock: *const sys::timebase_clock,
    is_attached: bool,
}

// SAFETY: the library's clocks may be used by all threads at once.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}

impl From<sys::timebase_instant> for Reading {
    fn from(instant: sys::timebase_instant) -> Self {
        Self {
            ticks: instant.ticks,
            mono_ns: instant.mono_ns,
            utc_ns: instant.utc_ns,
            maxerror_ns: instant.maxerror_ns,
            utc_maxerror_ns: instant.utc_maxerror_ns,
            esterror_ns: instant.esterror_ns,
            flags: Flags(instant.flags),
        }
    }
}

/// A path as C wants it.
pub(super) fn c_path(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::Invalid)
}

impl Handle {
    /// The process' own clock.
    pub(crate) fn private() -> Self {
        // SAFETY: no conditions; never null.
        let clock = unsafe { sys::timebase_clock_default() };
        Self { clock, is_attached: false }
    }

    pub(crate) fn attach(path: &Path) -> Result<Self, Error> {
        let path = c_path(path)?;
        let mut clock = core::ptr::null_mut();
        // SAFETY: the path is terminated, and the clock is stored where the pointer is to.
        Error::check(unsafe { sys::timebase_clock_attach(&mut clock, path.as_ptr()) })?;
        Ok(Self { clock, is_attached: true })
    }

    pub(crate) fn as_ptr(&self) -> *const sys::timebase_clock {
        self.clock
    }

    pub(crate) fn page(&self) -> &Page {
        // SAFETY: the handle is the page's address, and the library writes it by atomics alone.
        unsafe { Page::from_ptr(self.clock.cast()) }
    }

    fn filled(&self, fill: impl FnOnce(*mut sys::timebase_instant)) -> Reading {
        let mut instant = core::mem::MaybeUninit::<sys::timebase_instant>::zeroed();
        fill(instant.as_mut_ptr());
        // SAFETY: plain numbers, for which zeros are values, too.
        unsafe { instant.assume_init() }.into()
    }

    pub(crate) fn now_slow(&self) -> Reading {
        // SAFETY: a valid clock, and room for the instant.
        self.filled(|out| unsafe { sys::timebase_now_slow(self.clock, out) })
    }

    pub(crate) fn at(&self, ticks: u64) -> Reading {
        // SAFETY: as above.
        self.filled(|out| unsafe { sys::timebase_at(self.clock, ticks, out) })
    }

    pub(crate) fn ticks_at_utc(&self, utc_ns: i64) -> u64 {
        // SAFETY: a valid clock.
        unsafe { sys::timebase_ticks_at_utc(self.clock, utc_ns) }
    }

    pub(crate) fn ticks_at_mono(&self, mono_ns: i64) -> u64 {
        // SAFETY: a valid clock.
        unsafe { sys::timebase_ticks_at_mono(self.clock, mono_ns) }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.is_attached {
            // SAFETY: attached by us, and nobody has the handle any more.
            unsafe { sys::timebase_clock_detach(self.clock.cast_mut()) };
        }
    }
}
