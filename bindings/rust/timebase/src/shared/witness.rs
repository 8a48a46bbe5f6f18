// SPDX-License-Identifier: MIT
//! Has this guest been migrated, or restored from a snapshot, since its lines were drawn? Where the
//! kernel's clock is made of the same counter, a stop of both is seen by nobody inside. The
//! hypervisor's page, /dev/vmclock0, has numbers that change; a reader compares them by itself, and
//! need not wait for the daemon to have noticed.

use crate::Status;
use core::ffi::c_void;
use core::ptr::{null_mut, NonNull};
use core::sync::atomic::{fence, AtomicU32, Ordering};
use rustix::fs::{fstat, open, FileType, Mode, OFlags};
use rustix::mm::{mmap, munmap, MapFlags, ProtFlags};

const DEVICE: &str = "/dev/vmclock0";

// Of Linux' vmclock-abi.h: offsets, all little-endian.
const MAGIC_AT: usize = 0x00;
const SIZE_AT: usize = 0x04;
const VERSION_AT: usize = 0x08;
const SEQ_AT: usize = 0x0c;
const MARKER_AT: usize = 0x10;
const FLAGS_AT: usize = 0x18;
const STATUS_WORD_AT: usize = 0x20; // its third byte
const GENERATION_AT: usize = 0x68;

const MAGIC: u32 = 0x4b4c_4356;
const VERSION: u32 = 1;
const UNRELIABLE: u8 = 4;
const GENERATION_PRESENT: u32 = 1 << 8;

const PAGE_SIZE: usize = 4096;
const ATTEMPTS: usize = 8;

/// What the page said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Another after a migration.
    marker: u64,
    /// Another after a restore; 0 where the page has none.
    generation: u64,
    status: u8,
}

/// The hypervisor's page as words.
struct Words<'a>(&'a [AtomicU32; PAGE_SIZE / 4]);

impl Mark {
    /// What the daemon stores for it in its page, where 0 is for "not told" (C's counter_marker()).
    fn as_word(&self) -> u64 {
        let marker = self.generation.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(self.marker);
        marker.wrapping_add(1).max(1)
    }
}

impl Words<'_> {
    fn word(&self, at: usize) -> u32 {
        u32::from_le(self.0[at / 4].load(Ordering::Relaxed))
    }

    /// In halves, for processors without atomics of 64 bits; seq says whether they belong together.
    fn long(&self, at: usize) -> u64 {
        u64::from(self.word(at + 4)) << 32 | u64::from(self.word(at))
    }

    fn is_vmclock(&self) -> bool {
        self.word(MAGIC_AT) == MAGIC
            && self.word(SIZE_AT) as usize >= GENERATION_AT
            && self.word(VERSION_AT) & 0xffff == VERSION
    }

    fn copy(&self) -> Mark {
        let has_generation = self.word(SIZE_AT) as usize >= GENERATION_AT + 8
            && self.word(FLAGS_AT) & GENERATION_PRESENT != 0;
        Mark {
            marker: self.long(MARKER_AT),
            generation: if has_generation { self.long(GENERATION_AT) } else { 0 },
            status: (self.word(STATUS_WORD_AT) >> 16) as u8,
        }
    }

    /// Never waits: a few attempts. The hypervisor makes seq odd, writes, and makes it even again,
    /// with barriers in between.
    fn read(&self) -> Option<Mark> {
        for _ in 0..ATTEMPTS {
            let seq = self.word(SEQ_AT);
            fence(Ordering::Acquire);
            let mark = self.copy();
            fence(Ordering::Acquire);
            if seq & 1 == 0 && self.word(SEQ_AT) == seq {
                return Some(mark);
            }
        }
        None
    }
}

/// The hypervisor's page, mapped for reading.
struct Witness(NonNull<c_void>);

// SAFETY: a mapping belongs to the process, and is read by atomic loads alone.
unsafe impl Send for Witness {}

impl Witness {
    /// Only a device of root's is taken: a regular file could be cut short under the mapping, and
    /// its owner be anybody.
    fn open() -> Option<Self> {
        let flags =
            OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        let device = open(DEVICE, flags, Mode::empty()).ok()?;
        let stat = fstat(&device).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::CharacterDevice || stat.st_uid != 0 {
            return None;
        }
        // SAFETY: a new mapping, where the kernel likes.
        let page = unsafe {
            mmap(null_mut(), PAGE_SIZE, ProtFlags::READ, MapFlags::SHARED, &device, 0).ok()?
        };
        let witness = Self(NonNull::new(page)?);
        witness.words().is_vmclock().then_some(witness)
    }

    fn words(&self) -> Words<'_> {
        // SAFETY: a page of memory that is aligned, and mapped until this is dropped.
        Words(unsafe { self.0.cast().as_ref() })
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        // SAFETY: nobody has a reference into the mapping any more.
        let _ = unsafe { munmap(self.0.as_ptr(), PAGE_SIZE) };
    }
}

/// Of a daemon that does not read the hypervisor's page, 5 s at its usual pace: lines drawn since then.
const PAGES_MIN: u32 = 20;

/// A guest that was stopped, migrated or restored has lines of another stretch of time, until its
/// daemon has seen that, too.
pub(super) struct Moved {
    witness: Option<Witness>,
    /// Of the newest look that was not in the middle of an update.
    mark: Option<Mark>,
    /// The newest look: the hypervisor calls its own clock unreliable, or was writing its page.
    is_doubted: bool,
    /// And the lines do not account for it.
    is_moved: bool,
    /// The vmclock marker of the page that was copied last.
    accounted: u64,
    /// The disruption marker of this page.
    marker: u64,
    /// The same of the page in force at the look that saw the newest move, if that is known.
    base: Option<u64>,
    /// Copied since the move, up to those that are enough.
    pages: u32,
}

impl Moved {
    /// Harmless where there is no such page.
    pub(super) fn open() -> Self {
        let witness = Witness::open();
        let mark = witness.as_ref().and_then(|witness| witness.words().read());
        Self {
            witness,
            mark,
            is_doubted: false,
            is_moved: false,
            accounted: 0,
            marker: 0,
            base: None,
            pages: 0,
        }
    }

    /// Comes before the daemon's page is looked at.
    pub(super) fn look(&mut self) {
        let now = self.witness.as_ref().and_then(|witness| witness.words().read());
        self.see(now);
    }

    /// A page that was known then and is not now is being written, and its marker may be changing.
    fn see(&mut self, now: Option<Mark>) {
        let Some(then) = self.mark else {
            self.mark = now;
            return;
        };
        let Some(now) = now else {
            self.is_doubted = true;
            return;
        };
        let is_same = now.marker == then.marker && now.generation == then.generation;
        self.is_doubted = is_same && now.status == UNRELIABLE;
        if !is_same {
            (self.is_moved, self.base, self.pages) = (true, None, 0);
        }
        self.mark = Some(now);
    }

    /// By the page's own word. False: it tells nothing, or this reader has seen nothing to compare.
    fn compare(&mut self) -> bool {
        let Some(mark) = self.mark.filter(|_| self.accounted != 0) else {
            return false;
        };
        let is_other = self.accounted != mark.as_word();
        if is_other && !self.is_moved {
            self.pages = 0;
        }
        self.is_moved = is_other;
        self.base = Some(self.marker); // for a page that tells nothing, if one comes
        true
    }

    /// The look has found the page that was copied last.
    pub(super) fn note_same(&mut self) {
        if !self.compare() {
            self.base.get_or_insert(self.marker);
        }
    }

    /// A page that tells what its lines account for is believed. One that tells nothing is heard when
    /// it publishes a disruption after the look that saw the move. What this look found in the file,
    /// or what was published while it could not be read, may be an older disruption.
    pub(super) fn note_page(&mut self, disruption_marker: u64, vmclock_marker: u64) {
        self.marker = disruption_marker;
        self.accounted = vmclock_marker;
        self.pages = PAGES_MIN.min(self.pages + 1);
        if !self.compare() && *self.base.get_or_insert(disruption_marker) != disruption_marker {
            self.is_moved = false;
        }
    }

    /// What is left of that of a line. After a while a daemon that says nothing of the move keeps the
    /// kernel's clock again; but that may have stood still, and UTC with it.
    pub(super) fn status(&self, of: Status) -> Status {
        if of != Status::Unknown && (self.is_doubted || self.is_moved && self.pages < PAGES_MIN) {
            return Status::Unreliable;
        }
        match of {
            Status::Synchronized if self.is_moved => Status::FreeRunning,
            other => other,
        }
    }

    /// As if the marker had changed from one look to the next, on a machine with such a page or without.
    #[cfg(test)]
    pub(super) fn pretend(&mut self) {
        let of = |marker| Some(Mark { marker, generation: 0, status: 0 });
        self.mark = of(1);
        self.see(of(2));
        self.mark = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(bytes: &mut [u8], at: usize, value: u64, size: usize) {
        bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    /// The page of one line of `moves`.
    fn page(numbers: &[u64]) -> [AtomicU32; PAGE_SIZE / 4] {
        let &[seq, marker, generation, flags, size, status] = numbers else {
            panic!("six numbers, not {numbers:?}");
        };
        let mut bytes = [0; PAGE_SIZE];
        put(&mut bytes, 0x00, 0x4b4c_4356, 4);
        put(&mut bytes, 0x04, size, 4);
        put(&mut bytes, 0x08, 1, 2);
        put(&mut bytes, 0x0c, seq, 4);
        put(&mut bytes, 0x10, marker, 8);
        put(&mut bytes, 0x18, flags, 8);
        put(&mut bytes, 0x22, status, 1);
        put(&mut bytes, 0x68, generation, 8);
        core::array::from_fn(|i| {
            AtomicU32::new(u32::from_ne_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap()))
        })
    }

    fn step(moved: &mut Moved, event: &str, numbers: &[u64]) {
        match event {
            "vm" | "look" => {
                let page = page(numbers);
                assert!(Words(&page).is_vmclock());
                moved.see(Words(&page).read());
                if event == "vm" {
                    moved.note_same();
                }
            }
            "page" => (0..numbers[1]).for_each(|_| {
                moved.note_page(numbers[0], numbers.get(2).copied().unwrap_or(0));
            }),
            _ => panic!("no event: {event}"),
        }
    }

    /// The same table as C's and Go's.
    #[test]
    fn moves_are_noticed_as_by_c() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/moves");
        let Ok(text) = std::fs::read_to_string(path) else {
            assert!(!std::path::Path::new(path).with_file_name("law.h").exists());
            println!("not tried: {path} is not in the package, only in the project's tree");
            return;
        };
        let mut moved = Moved::open();
        moved.witness = None;
        moved.mark = None;
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut steps = 0;
        for line in lines {
            let (event, verdict) = line.split_once("->").expect("event -> verdict");
            let mut words = event.split_whitespace();
            let name = words.next().expect("an event");
            let numbers: Vec<u64> = words.map(|word| word.parse().expect("a number")).collect();
            step(&mut moved, name, &numbers);
            let said = match moved.status(Status::Synchronized) {
                Status::Synchronized => "trusted",
                Status::FreeRunning => "freerunning",
                _ => "unreliable",
            };
            assert_eq!(said, verdict.trim(), "after: {line}");
            steps += 1;
        }
        assert!(steps >= 20, "{steps} steps");
    }

    #[test]
    fn another_page_is_none() {
        let nothing = [const { AtomicU32::new(0) }; PAGE_SIZE / 4];
        assert!(!Words(&nothing).is_vmclock());
        let mut short = page(&[8, 1, 0, 0, 0x67, 2]);
        assert!(!Words(&short).is_vmclock());
        short = page(&[8, 1, 0, 0, 0x68, 2]);
        assert!(Words(&short).is_vmclock());
        *short[VERSION_AT / 4].get_mut() = 2u32.to_le();
        assert!(!Words(&short).is_vmclock());
    }
}
