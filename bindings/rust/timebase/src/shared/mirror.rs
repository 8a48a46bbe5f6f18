// SPDX-License-Identifier: MIT
//! A clock that follows another process' page by copies of it.
//!
//! ```text
//! file ──look──► lines ──view──► shown    one line, for a lease: the inline reads
//!                      └───────► whole    all three: conversions
//! ```

use super::explain::AttachError;
use super::file::PageFile;
use super::moment::{check_lines, check_page, Moment, Verdict};
use super::told::Told;
use super::view::View;
use super::witness::Moved;
use crate::counter::{counter_id, ticks_ordered};
use crate::page::Lines;
use crate::{CounterId, Error, Page, Reading, PROCESSOR_COUNTER};
use core::sync::atomic::{AtomicI64, Ordering};
use core::time::Duration;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// A number that has not changed for so long: has the file been replaced?
const QUIET_NS: u64 = 500_000_000;
/// How often the path is looked up then.
const LOOK_UP_NS: u64 = 100_000_000;
/// A reader held up for a lease after each renewal gives up, and draws the lines on.
const READ_ATTEMPTS: usize = 2;
/// How long a reader waits for the thread that renews, which takes a few µs: 100 times 20 µs.
const WAITS: usize = 100;
const WAIT: Duration = Duration::from_micros(20);

/// The page that another process publishes, the daemon `timebased` as a rule, followed without C.
///
/// ```no_run
/// let shared = timebase::SharedPage::attach(timebase::PAGE_PATH)?;
/// println!("{}", shared.now().utc());
/// # Ok::<(), timebase::AttachError>(())
/// ```
///
/// The file is read, never mapped, and what was read is used for no longer than 20 ms; so reads go
/// on, whatever becomes of the file. It is trusted if it is a regular file of root's or this user's
/// that nobody else may write, in folders of which the same holds, on no file system in user space;
/// if it validates; and if its lines are of this process' counter and agree with the kernel's
/// clocks. A page that its writer no longer renews goes on with a bound that grows, until it
/// expires. Monotonic time does not go back if another writer's lines lie lower.
///
/// About every 20 ms of use one reader renews the copy, which takes some 300 ns to a few µs. Others
/// that come meanwhile wait for it, some µs, but never for long: after 2 ms they go on with the
/// lines there are, or with the kernel's clocks if these lines have parted from them. Where the
/// thread that renews is held up between closing its lines and publishing others, monotonic time
/// stands still for them, and the bound grows. The same happens to a forked child whose parent had
/// a thread renewing at that moment; it should attach anew.
/// [`Clock::attach`](crate::Clock::attach) with the feature `sys` does the same through the C
/// library, whose readers wait for nobody.
///
/// In a guest whose hypervisor has a page, /dev/vmclock0, a migration makes readings
/// [`Status::Unreliable`] from the next look on, until the writer publishes that it has seen the
/// migration too. One that does not is believed about the kernel's clock after 20 pages, and about
/// UTC no more: [`Status::FreeRunning`].
///
/// [`Status::Unreliable`]: crate::Status::Unreliable
/// [`Status::FreeRunning`]: crate::Status::FreeRunning
pub struct SharedPage {
    /// One line for a lease, over the processor's counter; empty where that cannot be read.
    shown: Page,
    /// The same over the OS clock's ticks.
    shadow: Page,
    whole: Page,
    told: Told,
    /// CLOCK_MONOTONIC here − the page's, for who has no lock.
    mono_offset_ns: AtomicI64,
    mirror: Mutex<Mirror>,
}

struct Mirror {
    path: PathBuf,
    file: PageFile,
    lines: Lines,
    refresh_ticks: u64,
    seq: u64,
    changed_ticks: u64,
    look_up_ticks: u64,
    mono_offset_ns: i64,
    error: Option<Error>,
    moved: Moved,
}

fn has_passed(ticks: u64, now_ticks: u64) -> bool {
    now_ticks.wrapping_sub(ticks) as i64 >= 0
}

fn later(a: u64, b: u64) -> u64 {
    if has_passed(a, b) {
        b
    } else {
        a
    }
}

/// A copy, its lines, and how far its monotonic time is from ours.
struct Copied {
    lines: Lines,
    refresh_ticks: u64,
    seq: u64,
    disruption_marker: u64,
    vmclock_marker: u64,
    mono_offset_ns: i64,
}

fn copied(page: &Page, check: impl FnOnce(&Lines) -> Result<i64, Error>) -> Result<Copied, Error> {
    let (lines, refresh_ticks) = page.read_back().ok_or(Error::Stale)?;
    let mono_offset_ns = check(&lines)?;
    Ok(Copied {
        lines,
        refresh_ticks,
        seq: page.seq_whole(),
        disruption_marker: page.disruption_marker(),
        vmclock_marker: page.vmclock_marker(),
        mono_offset_ns,
    })
}

fn open(path: &Path) -> Result<(PageFile, Copied), Error> {
    let file = PageFile::open(path)?;
    let page = file.copy()?;
    let copied = copied(&page, |lines| check_page(&page, lines))?;
    Ok((file, copied))
}

impl Mirror {
    /// Looks at the path: is another file there than the one we have, and a page?
    fn look_up(&mut self, now_ticks: u64) -> Result<Option<Copied>, Error> {
        if !has_passed(self.look_up_ticks, now_ticks) {
            return self.error.map_or(Ok(None), Err);
        }
        self.look_up_ticks = now_ticks.wrapping_add(self.lines.ticks(LOOK_UP_NS));
        let file = PageFile::open(&self.path)?;
        if file.is_same(&self.file) {
            return Ok(None);
        }
        let page = file.copy()?;
        let copied = copied(&page, |lines| check_page(&page, lines))?;
        self.file = file;
        Ok(Some(copied))
    }

    /// A number that fell is another writer's: compare its lines with the clocks once more.
    fn copy_another(&self, seq: u64) -> Result<Copied, Error> {
        let page = self.file.copy()?;
        copied(&page, |lines| {
            if seq > self.seq {
                check_lines(&page, lines).map(|()| self.mono_offset_ns)
            } else {
                check_page(&page, lines)
            }
        })
    }

    /// One system call while nothing has changed.
    fn look(&mut self, now_ticks: u64) -> Result<Option<Copied>, Error> {
        let seen = match self.file.seq() {
            Ok(seq) if seq == self.seq => {
                let quiet = self.lines.ticks(QUIET_NS);
                return if has_passed(self.changed_ticks.wrapping_add(quiet), now_ticks) {
                    self.look_up(now_ticks)
                } else {
                    Ok(None)
                };
            }
            Ok(seq) => self.copy_another(seq),
            Err(error) => Err(error),
        };
        match seen {
            Ok(copied) => Ok(Some(copied)),
            Err(error) => match self.look_up(now_ticks) {
                Ok(Some(copied)) => Ok(Some(copied)),
                _ => Err(error),
            },
        }
    }

    fn keep(&mut self, copied: &Copied, now_ticks: u64) {
        self.lines = copied.lines;
        self.refresh_ticks = copied.refresh_ticks;
        self.seq = copied.seq;
        self.mono_offset_ns = copied.mono_offset_ns;
        self.changed_ticks = now_ticks;
    }

    /// After a move the lines go on being shown: readers get no step, and no promise either.
    fn promised(&self, lines: &Lines) -> Lines {
        let mut lines = *lines;
        lines.map_status(|status| self.moved.status(status));
        lines
    }
}

impl SharedPage {
    /// Follows the page in this file.
    pub fn attach(path: impl AsRef<Path>) -> Result<Self, AttachError> {
        let path = path.as_ref();
        Self::attach_file(path).map_err(|error| AttachError::new(path, error))
    }

    fn attach_file(path: &Path) -> Result<Self, Error> {
        let bytes = path.as_os_str().as_bytes();
        if bytes.is_empty() || bytes.contains(&0) {
            return Err(Error::Invalid);
        }
        // The path is looked up again later, perhaps from another folder.
        let path = std::path::absolute(path).map_err(|_| Error::NotFound)?;
        let mut moved = Moved::open();
        let now_ticks = ticks_ordered();
        moved.look();
        let (file, copied) = open(&path)?;
        moved.note_page(copied.disruption_marker, copied.vmclock_marker);
        let shared = Self {
            shown: Page::begin(PROCESSOR_COUNTER),
            shadow: Page::begin(CounterId::Os),
            whole: Page::begin(counter_id()),
            told: Told::nothing(),
            mono_offset_ns: AtomicI64::new(copied.mono_offset_ns),
            mirror: Mutex::new(Mirror {
                path,
                file,
                lines: copied.lines,
                refresh_ticks: copied.refresh_ticks,
                seq: copied.seq,
                changed_ticks: now_ticks,
                look_up_ticks: now_ticks,
                mono_offset_ns: copied.mono_offset_ns,
                error: None,
                moved,
            }),
        };
        shared.renew_locked(&mut shared.lock(), now_ticks, None)?;
        Ok(shared)
    }

    /// A thread that panicked in here has left whole pages: what is kept beside them is copied
    /// again at the next change.
    fn lock(&self) -> MutexGuard<'_, Mirror> {
        self.mirror.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Mirror>> {
        match self.mirror.try_lock() {
            Ok(mirror) => Some(mirror),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn shown_page(&self) -> &Page {
        if counter_id() == PROCESSOR_COUNTER {
            &self.shown
        } else {
            &self.shadow
        }
    }

    /// The page that is read in place: it has one line, for a lease.
    #[inline]
    pub fn page(&self) -> &Page {
        &self.shown
    }

    /// Looks at the file again, and shows what is there. Readers do so by themselves; a thread that
    /// calls this every 10 ms spares them. The error says why the page cannot be followed just now;
    /// reading goes on.
    pub fn renew(&self) -> Result<(), Error> {
        let mut mirror = self.lock();
        self.renew_now(&mut mirror)
    }

    /// The lease runs from before the look: lines that are published later begin no sooner than a
    /// lease after it.
    fn renew_now(&self, mirror: &mut Mirror) -> Result<(), Error> {
        let now_ticks = ticks_ordered();
        mirror.moved.look();
        let looked = mirror.look(now_ticks);
        mirror.error = looked.as_ref().err().copied();
        match looked {
            Ok(copied) => {
                if copied.is_none() {
                    mirror.moved.note_same();
                }
                self.renew_locked(mirror, now_ticks, copied.as_ref())
            }
            Err(error) => {
                let _ = self.renew_locked(mirror, now_ticks, None);
                Err(error)
            }
        }
    }

    /// If nothing was copied, the present lines go on.
    fn renew_locked(
        &self,
        mirror: &mut Mirror,
        now_ticks: u64,
        copied: Option<&Copied>,
    ) -> Result<(), Error> {
        let (lines, refresh_ticks, offset_ns) = match copied {
            Some(copied) => (copied.lines, copied.refresh_ticks, copied.mono_offset_ns),
            None => (mirror.lines, mirror.refresh_ticks, mirror.mono_offset_ns),
        };
        if let Some(copied) = copied {
            mirror.moved.note_page(copied.disruption_marker, copied.vmclock_marker);
        }
        self.mono_offset_ns.store(offset_ns, Ordering::Release);
        let shown = self.show(mirror.promised(&lines), refresh_ticks, now_ticks, offset_ns);
        if let (Some(copied), Ok(()) | Err(Error::Disrupted)) = (copied, shown) {
            mirror.keep(copied, now_ticks);
        }
        shown
    }

    fn show(
        &self,
        mut lines: Lines,
        refresh_ticks: u64,
        mut now_ticks: u64,
        offset_ns: i64,
    ) -> Result<(), Error> {
        let mut parted = Ok(());
        let due_ticks = lines.due_ticks(refresh_ticks);
        lines.silence(now_ticks);
        if lines.is_doubtful(refresh_ticks, now_ticks) {
            if let Some(moment) = Moment::look() {
                let verdict = moment.judge(&lines, offset_ns);
                if verdict != Verdict::Agree {
                    lines = moment.lines(&lines, offset_ns);
                    now_ticks = moment.ticks_before;
                }
                if verdict == Verdict::Parted {
                    parted = Err(Error::Disrupted);
                }
            }
        }
        let Some((old, refresh_ticks)) = self.shown_page().read_back() else {
            self.publish(&lines, &View::at(&lines, now_ticks), due_ticks);
            return parted;
        };
        let shown = View { lines: old, refresh_ticks };
        let replaced = self.replace(&lines, &shown, now_ticks, due_ticks);
        // That the lines have parted has to be told also if what is shown stays.
        parted.and(replaced)
    }

    /// `whole` first: who has seen the new view converts by lines that are as new. Who draws them on
    /// judges by when the writer's wanted renewal. Readers without the lock are let go between the two:
    /// before, they might draw on the old lines; after, others are told later times than those where
    /// they stand.
    fn publish(&self, whole: &Lines, view: &View, due_ticks: u64) {
        let start = whole.after.start_ticks;
        let is_due_later = has_passed(start, due_ticks);
        self.whole.publish(whole, if is_due_later { due_ticks.wrapping_sub(start) } else { 0 });
        self.told.open();
        self.shown_page().publish(&view.lines, view.refresh_ticks);
    }

    /// Readers follow what is shown to its end, or beyond: what takes its place begins no lower. So
    /// they are stopped first. A counter that went back beyond it will not come to its end; nobody was
    /// told more than is shown there.
    fn replace(
        &self,
        lines: &Lines,
        shown: &View,
        now_ticks: u64,
        due_ticks: u64,
    ) -> Result<(), Error> {
        let old = &shown.lines;
        let end = shown.end();
        let floor_ns = self.told.close(old.at(end).mono_ns);
        let has_gone_back = !old.before.has_begun(now_ticks);
        #[cfg(test)]
        tests::held_up("renewer");
        if !has_gone_back && !has_passed(end.wrapping_add(1), ticks_ordered()) {
            let is_below = |ticks| lines.at(ticks).mono_ns < old.at(ticks).mono_ns;
            if is_below(now_ticks) || is_below(end) {
                self.told.open();
                return Err(Error::Busy);
            }
            self.publish(lines, &View::at(lines, now_ticks), due_ticks);
            return Ok(());
        }
        let start = if has_gone_back { now_ticks } else { later(end.wrapping_add(1), now_ticks) };
        let (view, is_bridge) = View::above(lines, &old.after, start, floor_ns, now_ticks);
        self.publish(if is_bridge { &view.lines } else { lines }, &view, due_ticks);
        Ok(())
    }

    #[inline]
    fn current(&self) -> Option<Reading> {
        if counter_id() == PROCESSOR_COUNTER {
            self.shown.now()
        } else {
            self.shadow.now_at(ticks_ordered)
        }
    }

    fn help_renew(&self) {
        for _ in 0..WAITS {
            if let Some(mut mirror) = self.try_lock() {
                // Whoever had the lock may have done it.
                if self.current().is_none() {
                    let _ = self.renew_now(&mut mirror);
                }
                return;
            }
            std::thread::sleep(WAIT);
            if self.current().is_some() {
                return;
            }
        }
    }

    /// One tick, and everything it says. It always answers.
    #[inline]
    pub fn now(&self) -> Reading {
        match self.shown.now() {
            Some(reading) => reading,
            None => self.now_slow(),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn now_slow(&self) -> Reading {
        for _ in 0..READ_ATTEMPTS {
            if let Some(reading) = self.current() {
                return reading;
            }
            self.help_renew();
        }
        self.current().unwrap_or_else(|| self.draw_on())
    }

    /// What a tick of another moment says.
    pub fn at(&self, ticks: u64) -> Reading {
        self.now(); // the lines of this lease
        self.whole.at(ticks).unwrap_or(Reading::unknown(ticks))
    }

    /// The first tick at which monotonic time will be, or was, `target_ns` or later.
    pub fn ticks_at_mono(&self, target_ns: i64) -> u64 {
        self.now();
        self.whole.ticks_at_mono(target_ns).unwrap_or(0)
    }

    /// The same of UTC.
    pub fn ticks_at_utc(&self, target_ns: i64) -> u64 {
        self.now();
        self.whole.ticks_at_utc(target_ns).unwrap_or(0)
    }
}

impl core::fmt::Debug for SharedPage {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SharedPage").field("shown", &self.shown).finish_non_exhaustive()
    }
}

mod draw_on;
#[cfg(test)]
mod tests;
