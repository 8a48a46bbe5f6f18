// SPDX-License-Identifier: MIT
//! What the C library does: the process' own clock, keeping clocks right, waits, calendars,
//! timelines, real-time settings. All `unsafe` of it is in here, and in `shared`'s one system call.

mod calendar;
mod comb;
mod handle;
mod housekeeping;
mod own;
mod realtime;
mod timeline;
mod wait;
mod wait_certain;
mod wait_flags;

pub use crate::counter::{counter_select, Counter};
pub use calendar::{
    calendar_bucket_ns, Calendar, NotRun, Problem, Release, ReleaseBits, Unit, UnitResult,
};
pub use comb::TickComb;
pub(crate) use handle::Handle;
pub use housekeeping::{Attachment, AttachmentState, Maintenance, Statistics};
pub use own::{
    default_clock, mono_ms, mono_ns, mono_ns_unordered, now, realtime_interval, tai_ms, tai_ns,
    tai_ns_unordered, utc_interval, utc_ms, utc_ns, utc_ns_unordered,
};
pub use realtime::{Realtime, RealtimeRequest, RealtimeSettings, Refusal};
pub use timeline::{BootId, Timeline, TimelineBoot, TimelineDamage, TimelineGap, TimelineReason};
pub use wait::{rehearsing, FineReading, FineReadings, WaitResult, Waiter, WaiterDescription};
pub use wait_flags::{Disturbances, Mechanism, WaitFlags};

/// Constant English text of the library.
///
/// # Safety
///
/// `text` is one of its constants: terminated, ASCII, there for ever.
pub(crate) unsafe fn text(text: *const core::ffi::c_char) -> &'static str {
    // SAFETY: the caller's word.
    let text = unsafe { core::ffi::CStr::from_ptr(text) };
    text.to_str().unwrap_or("?")
}
