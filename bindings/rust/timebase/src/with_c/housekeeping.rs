// SPDX-License-Identifier: MIT
//! Keeping a clock right, and how it stands. Of clocks of the C library: for one that is attached
//! without it, or a mock, the functions give [`Error::Unsupported`].

use super::Handle;
use crate::{Clock, Error, Status};
use timebase_sys as sys;

/// Who keeps a clock right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// Readers, about every 100 ms of use.
    Automatic,
    /// Whoever calls [`Clock::maintain`], at least once a second.
    Manual,
}

/// How an attached clock stands with its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachmentState {
    /// The process' own clock: attached to nothing.
    Private,
    /// Renewed in time.
    Current,
    /// Not renewed for a while: FREERUNNING.
    Silent,
    /// Not renewed for long: UNKNOWN.
    Expired,
}

/// How an attached clock stands with its page. Counts since it was attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// In a word.
    pub state: AttachmentState,
    /// Why the page cannot be followed just now.
    pub error: Option<Error>,
    /// Number of the publication that is followed.
    pub seq: u64,
    /// Since its newest line began; 0: that is still to come.
    pub age_ns: u64,
    /// `CLOCK_MONOTONIC` here − the page's: time namespaces, else 0.
    pub mono_offset_ns: i64,
    /// Looks at the page.
    pub renewals: u64,
    /// Of them, that found another publication.
    pub publications: u64,
    /// The file was another one: opened again.
    pub openings: u64,
    /// Looks that found no page, or none to be trusted.
    pub refusals: u64,
    /// Lines that lay below what had been shown.
    pub joins: u64,
}

/// What happened to a clock.
#[derive(Clone, Copy, Debug)]
pub struct Statistics(pub sys::timebase_statistics);

impl Statistics {
    /// Lines published.
    pub fn publications(&self) -> u64 {
        self.0.publications
    }

    /// Manual maintenance was overdue, and a reader did it.
    pub fn rescues(&self) -> u64 {
        self.0.rescues
    }

    /// Ticks per second of the reference's time.
    pub fn frequency_hz(&self) -> u64 {
        self.0.frequency_hz
    }

    /// What the bounds of a reading were worth at that moment.
    pub fn status(&self) -> Status {
        Status::of(self.0.status as u32)
    }
}

impl Clock {
    fn of_c(&self) -> Result<&Handle, Error> {
        self.handle().map(|handle| &**handle).ok_or(Error::Unsupported)
    }

    /// Compares with the reference and publishes the next lines, in a few µs; of an attached clock,
    /// looks at its page. [`Error::Busy`] is no fault: the lines are fresh, or somebody is at it.
    pub fn maintain(&self) -> Result<(), Error> {
        // SAFETY: a valid clock, here and below.
        Error::check(unsafe { sys::timebase_clock_maintain(self.of_c()?.as_ptr()) }).map(drop)
    }

    /// Chooses who keeps the clock right, from the next publication on.
    pub fn set_maintenance(&self, maintenance: Maintenance) -> Result<(), Error> {
        let choice = match maintenance {
            Maintenance::Automatic => sys::TIMEBASE_MAINTENANCE_AUTOMATIC,
            Maintenance::Manual => sys::TIMEBASE_MAINTENANCE_MANUAL,
        };
        let clock = self.of_c()?.as_ptr();
        Error::check(unsafe { sys::timebase_clock_set_maintenance(clock, choice as i32) }).map(drop)
    }

    /// Forgets all lines and starts afresh, as after [`counter_select`](crate::counter_select).
    /// Monotonic time may step by the clock's error, so call it before other threads read.
    pub fn restart(&self) -> Result<(), Error> {
        Error::check(unsafe { sys::timebase_clock_restart(self.of_c()?.as_ptr()) }).map(drop)
    }

    /// What happened to the clock.
    pub fn statistics(&self) -> Result<Statistics, Error> {
        let clock = self.of_c()?.as_ptr();
        // SAFETY: plain numbers, for which zeros are values.
        let mut out = unsafe { core::mem::zeroed() };
        Error::check(unsafe { sys::timebase_clock_statistics(clock, &mut out) })?;
        Ok(Statistics(out))
    }

    /// How an attached clock stands with its page, after a look at it.
    pub fn attachment(&self) -> Result<Attachment, Error> {
        let clock = self.of_c()?.as_ptr();
        // SAFETY: as above.
        let mut out: sys::timebase_attachment = unsafe { core::mem::zeroed() };
        Error::check(unsafe { sys::timebase_clock_attachment(clock, &mut out) })?;
        Ok(Attachment {
            state: match out.state as u32 {
                sys::TIMEBASE_ATTACHMENT_CURRENT => AttachmentState::Current,
                sys::TIMEBASE_ATTACHMENT_SILENT => AttachmentState::Silent,
                sys::TIMEBASE_ATTACHMENT_EXPIRED => AttachmentState::Expired,
                _ => AttachmentState::Private,
            },
            error: Error::from_code(out.error),
            seq: out.seq,
            age_ns: out.age_ns,
            mono_offset_ns: out.mono_offset_ns,
            renewals: out.renewals,
            publications: out.publications,
            openings: out.openings,
            refusals: out.refusals,
            joins: out.joins,
        })
    }
}
