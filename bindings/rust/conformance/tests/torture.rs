// SPDX-License-Identifier: MIT
//! Readings while a writer in C publishes millions a second: none torn, none backwards. And the
//! same test has to find torn ones where the writer breaks the protocol.

use rustix::mm::{mmap, munmap, MapFlags, ProtFlags};
use std::path::Path;
use timebase::{Page, Reading};
use timebase_conformance::law;
use timebase_conformance::stand::{reads, Folder, Writer};

/// The writer's own file, mapped: it is ours, and nobody cuts it short.
struct Mapped(*mut core::ffi::c_void);

impl Mapped {
    fn open(path: &Path) -> Self {
        let file = std::fs::File::open(path).expect("the page");
        let (read, shared) = (ProtFlags::READ, MapFlags::SHARED);
        // SAFETY: a new mapping, at no given place.
        let map = unsafe { mmap(core::ptr::null_mut(), Page::SIZE, read, shared, &file, 0) };
        Self(map.expect("a mapping"))
    }

    fn page(&self) -> &Page {
        // SAFETY: page-aligned memory, which the writer writes by atomic operations (the broken one
        // by volatile words, whole ones too).
        unsafe { Page::from_ptr(self.0.cast()) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: ours, and not used any more.
        unsafe { munmap(self.0, Page::SIZE).expect("unmapped") };
    }
}

#[derive(Debug, Default)]
struct Found {
    now: u64,
    at: u64,
    none: u64,
    torn: u64,
    backwards: u64,
    newest: u64,
    latest_ns: i64,
}

impl Found {
    fn readings(&self) -> u64 {
        self.now + self.at
    }

    fn add(&mut self, other: &Self) {
        self.now += other.now;
        self.at += other.at;
        self.none += other.none;
        self.torn += other.torn;
        self.backwards += other.backwards;
    }

    fn judge(&mut self, reading: &Reading, t0: u64) {
        match law::number(reading, t0) {
            None => self.torn += 1,
            Some(n) => {
                self.backwards += u64::from(n < self.newest);
                self.newest = n;
            }
        }
    }

    fn look(&mut self, page: &Page, i: u64, t0: u64) {
        let is_now = i % 2 == 0;
        let reading = if is_now {
            page.now()
        } else {
            page.at(t0 + (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 22))
        };
        let Some(reading) = reading else {
            self.none += 1; // a publication fell in between: a reader tries again
            return;
        };
        self.judge(&reading, t0);
        if is_now {
            self.now += 1;
            self.backwards += u64::from(reading.mono_ns < self.latest_ns);
            self.latest_ns = reading.mono_ns;
        } else {
            self.at += 1;
        }
    }
}

/// It lives for 300 s: a machine may be too slow for all of them.
const READS_OF_A_WRITER: u64 = 20_000_000;

/// So many readings, without those that found no line, and as many more as show that the writer was
/// at work; or those of its life.
fn torture(is_broken: bool, count: u64) -> Found {
    let folder = Folder::new(if is_broken { "broken" } else { "torture" });
    let path = folder.0.join("page");
    let mut writer = Writer::start(&path, is_broken);
    let mapped = Mapped::open(&path);
    let page = mapped.page();
    let t0 = page.disruption_marker();
    let mut found = Found::default();
    for i in 0.. {
        let is_enough = found.torn > 0 || (found.now > 0 && found.at > 0 && found.newest > 2);
        if (found.readings() >= count && is_enough) || (i % 4096 == 4095 && writer.has_ended()) {
            break;
        }
        found.look(page, i, t0);
    }
    found
}

#[test]
fn nothing_torn_nothing_backwards() {
    let mut all = Found::default();
    while all.readings() < reads() {
        let found = torture(false, (reads() - all.readings()).min(READS_OF_A_WRITER));
        assert!(found.now > 0 && found.at > 0 && found.newest > 2, "{found:?}");
        assert_eq!((found.torn, found.backwards), (0, 0), "{found:?}");
        all.add(&found);
    }
    println!(
        "{} readings, {} without a line, {} torn, {} backwards",
        all.readings(),
        all.none,
        all.torn,
        all.backwards
    );
}

#[test]
fn a_broken_writer_is_found() {
    let found = torture(true, 4_000_000);
    assert!(found.torn > 0, "{found:?}");
}
