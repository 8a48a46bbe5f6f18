// SPDX-License-Identifier: MIT
//! Ticks of the past: the folder in which the daemon keeps every line that it has published.

use super::handle::c_path;
use super::text;
use crate::{CounterId, Error, Reading};
use core::ptr::NonNull;
use std::path::Path;
use timebase_sys as sys;

/// A boot of a machine, as `/proc/sys/kernel/random/boot_id` has it.
pub type BootId = [u8; 16];

/// Converts ticks of the past by the lines that readers followed then.
///
/// ```no_run
/// use timebase::Timeline;
/// let mut timeline = Timeline::open("/var/lib/timebase/timeline")?;
/// let reading = timeline.at(None, 123_456_789_012_345)?;
/// println!("{} ± {} ns", reading.utc(), reading.utc_maxerror_ns);
/// # Ok::<(), timebase::Error>(())
/// ```
///
/// A tick whose meaning is not known is refused with the reason; nothing is guessed.
pub struct Timeline {
    timeline: NonNull<sys::timebase_timeline>,
}

// SAFETY: a handle belongs to one thread at a time, whichever.
unsafe impl Send for Timeline {}

/// Why there is no line for some ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimelineReason {
    /// A writer was killed: lines may be missing.
    Killed,
    /// The counter was disrupted: older lines do not hold after.
    Disrupted,
    /// A writer ended in good order, the next began anew.
    Ended,
    /// Lines could not be written: the disk was full or failed.
    Lost,
    /// Records are damaged, or a segment is missing.
    Unreadable,
}

impl TimelineReason {
    fn of(number: i32) -> Self {
        match number as u32 {
            sys::TIMEBASE_TIMELINE_KILLED => Self::Killed,
            sys::TIMEBASE_TIMELINE_DISRUPTED => Self::Disrupted,
            sys::TIMEBASE_TIMELINE_ENDED => Self::Ended,
            sys::TIMEBASE_TIMELINE_LOST => Self::Lost,
            _ => Self::Unreadable,
        }
    }
}

impl core::fmt::Display for TimelineReason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // SAFETY: constant text for every number; the library counts from 1.
        f.pad(unsafe { text(sys::timebase_timeline_reason_name(*self as i32 + 1)) })
    }
}

/// What the folder holds of one boot and counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineBoot {
    /// Which boot.
    pub id: BootId,
    /// Whose ticks these are.
    pub counter: Option<CounterId>,
    /// Stretches in between that cannot be converted.
    pub gap_count: u32,
    /// The first tick that can be converted, and when it was.
    pub first_ticks: u64,
    /// The last one.
    pub last_ticks: u64,
    /// UTC of the first.
    pub first_utc_ns: i64,
    /// UTC of the last.
    pub last_utc_ns: i64,
}

/// Ticks of one boot for which there is no line: from the first one to before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineGap {
    /// Which boot.
    pub boot: BootId,
    /// Whose ticks these are.
    pub counter: Option<CounterId>,
    /// Why.
    pub reason: TimelineReason,
    /// The first tick without a line.
    pub from_ticks: u64,
    /// The first one with a line again.
    pub to_ticks: u64,
    /// UTC at the last tick before the gap.
    pub from_utc_ns: i64,
    /// UTC at the first one after it.
    pub to_utc_ns: i64,
}

/// Bytes of a segment that are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineDamage {
    /// Number of the file: `00000007.tbl` is 7.
    pub segment: u32,
    /// Where.
    pub offset: u64,
    /// How many.
    pub size: u64,
}

type List<T> = unsafe extern "C" fn(*mut sys::timebase_timeline, *mut T, usize) -> i64;

fn boot_pointer(boot: Option<&BootId>) -> *const u8 {
    boot.map_or(core::ptr::null(), |boot| boot.as_ptr())
}

impl Timeline {
    /// Opens the timeline in a folder. An empty folder is a timeline without boots.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = c_path(folder.as_ref())?;
        let mut timeline = core::ptr::null_mut();
        // SAFETY: the path is terminated, and there is room for the handle.
        Error::check(unsafe { sys::timebase_timeline_open(&mut timeline, folder.as_ptr()) })?;
        NonNull::new(timeline).map(|timeline| Self { timeline }).ok_or(Error::Resource)
    }

    /// What a tick meant; without a boot, of whichever boot showed it.
    pub fn at(&mut self, boot: Option<&BootId>, ticks: u64) -> Result<Reading, Error> {
        let mut out = core::mem::MaybeUninit::<sys::timebase_instant>::zeroed();
        let (timeline, boot) = (self.timeline.as_ptr(), boot_pointer(boot));
        // SAFETY: an open handle, 16 bytes or null, room for the instant.
        Error::check(unsafe {
            sys::timebase_timeline_at(timeline, boot, ticks, out.as_mut_ptr())
        })?;
        // SAFETY: plain numbers, for which zeros are values.
        Ok(unsafe { out.assume_init() }.into())
    }

    /// The same for many ticks; fastest if they are sorted.
    pub fn at_many(
        &mut self,
        boot: Option<&BootId>,
        ticks: &[u64],
    ) -> Result<Vec<Result<Reading, Error>>, Error> {
        // SAFETY: plain numbers, for which zeros are values.
        let mut out: Vec<sys::timebase_instant> = vec![unsafe { core::mem::zeroed() }; ticks.len()];
        let mut results = vec![0; ticks.len()];
        // SAFETY: an open handle, 16 bytes or null, and arrays of this length.
        let converted = unsafe {
            sys::timebase_timeline_at_many(
                self.timeline.as_ptr(),
                boot_pointer(boot),
                ticks.as_ptr(),
                ticks.len(),
                out.as_mut_ptr(),
                results.as_mut_ptr(),
            )
        };
        count(converted)?;
        let each = out.into_iter().zip(results);
        Ok(each.map(|(instant, result)| Error::check(result).map(|_| instant.into())).collect())
    }

    /// The first tick at which UTC was `utc_ns` or later.
    pub fn ticks_at_utc(&mut self, boot: Option<&BootId>, utc_ns: i64) -> Result<u64, Error> {
        let mut ticks = 0;
        let (timeline, boot) = (self.timeline.as_ptr(), boot_pointer(boot));
        // SAFETY: an open handle, 16 bytes or null, room for the tick.
        Error::check(unsafe {
            sys::timebase_timeline_ticks_at_utc(timeline, boot, utc_ns, &mut ticks)
        })?;
        Ok(ticks)
    }

    /// Converts ticks after the end of the newest boot by its last lines, too. Off at first.
    pub fn set_drawing_on(&mut self, is_drawing_on: bool) {
        // SAFETY: an open handle.
        unsafe { sys::timebase_timeline_set_drawing_on(self.timeline.as_ptr(), is_drawing_on) };
    }

    /// All there is of a kind: a writer may add some between the two questions.
    fn list<T: Copy>(&mut self, list: List<T>) -> Result<Vec<T>, Error> {
        let timeline = self.timeline.as_ptr();
        let mut all = Vec::new();
        loop {
            // SAFETY: an open handle, and room for as many as it says. What is stored is whole.
            let there = count(unsafe { list(timeline, all.as_mut_ptr(), all.capacity()) })?;
            if there <= all.capacity() {
                unsafe { all.set_len(there) };
                return Ok(all);
            }
            all.reserve(there);
        }
    }

    /// The boots, oldest first.
    pub fn boots(&mut self) -> Result<Vec<TimelineBoot>, Error> {
        let boots = self.list(sys::timebase_timeline_boots)?;
        Ok(boots.iter().map(TimelineBoot::from).collect())
    }

    /// The gaps, oldest first.
    pub fn gaps(&mut self) -> Result<Vec<TimelineGap>, Error> {
        let gaps = self.list(sys::timebase_timeline_gaps)?;
        Ok(gaps.iter().map(TimelineGap::from).collect())
    }

    /// What is damaged, oldest first.
    pub fn damages(&mut self) -> Result<Vec<TimelineDamage>, Error> {
        let damages = self.list(sys::timebase_timeline_damages)?;
        Ok(damages.iter().map(TimelineDamage::from).collect())
    }
}

fn count(result: i64) -> Result<usize, Error> {
    usize::try_from(result)
        .map_err(|_| Error::from_code(result as i32).unwrap_or(Error::Unsupported))
}

impl From<&sys::timebase_timeline_boot> for TimelineBoot {
    fn from(boot: &sys::timebase_timeline_boot) -> Self {
        Self {
            id: boot.id,
            counter: CounterId::from_number(boot.counter_id as u32),
            gap_count: boot.gap_count,
            first_ticks: boot.first_ticks,
            last_ticks: boot.last_ticks,
            first_utc_ns: boot.first_utc_ns,
            last_utc_ns: boot.last_utc_ns,
        }
    }
}

impl From<&sys::timebase_timeline_gap> for TimelineGap {
    fn from(gap: &sys::timebase_timeline_gap) -> Self {
        Self {
            boot: gap.boot,
            counter: CounterId::from_number(gap.counter_id as u32),
            reason: TimelineReason::of(gap.reason),
            from_ticks: gap.from_ticks,
            to_ticks: gap.to_ticks,
            from_utc_ns: gap.from_utc_ns,
            to_utc_ns: gap.to_utc_ns,
        }
    }
}

impl From<&sys::timebase_timeline_damage> for TimelineDamage {
    fn from(damage: &sys::timebase_timeline_damage) -> Self {
        Self { segment: damage.segment, offset: damage.offset, size: damage.size }
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        // SAFETY: open until now.
        unsafe { sys::timebase_timeline_close(self.timeline.as_ptr()) };
    }
}

impl core::fmt::Debug for Timeline {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Timeline").finish_non_exhaustive()
    }
}
