// SPDX-License-Identifier: MIT
//! What cannot be seen from outside: a machine that moved, a counter that went back.

use super::super::kernel_clock_ns;
use super::*;
use crate::Status;
use rustix::time::ClockId;
use std::cell::{Cell, RefCell};
use std::os::unix::fs::PermissionsExt;
use std::rc::Rc;

/// The narrowest of five looks at counter and clock: half of its width is its error.
fn bracket() -> (u64, i64) {
    let look = || {
        let before = ticks_ordered();
        let ns = kernel_clock_ns(ClockId::Monotonic);
        (ticks_ordered() - before, before, ns)
    };
    let (width, before, ns) = (0..5).map(|_| look()).min().unwrap();
    (before + width / 2, ns)
}

/// A page on this machine's clocks, written once, at a pace that is about right, and with a
/// bound that covers how wrong it is.
fn publish(path: &Path) {
    let (first_ticks, first_ns) = bracket();
    std::thread::sleep(Duration::from_millis(20));
    let (last_ticks, last_ns) = bracket();
    let ns = (last_ns - first_ns) as u128;
    let ticks = u128::from(last_ticks - first_ticks);
    let mut lines = Lines::default();
    lines.after.period_ns = (ns / ticks) as u32;
    lines.after.period_frac = ((ns << 64) / ticks) as u64;
    lines.validity.silent_ticks = 1 << 50;
    lines.validity.void_ticks = 1 << 51;
    lines = Moment::look().unwrap().lines(&lines, 0);
    for line in [&mut lines.before, &mut lines.slew, &mut lines.after] {
        line.maxerror_ns = 1 << 40;
    }
    lines.map_status(|_| Status::Synchronized);
    let page = Page::begin(counter_id());
    page.publish(&lines, 1 << 40);
    // SAFETY: a page is so many bytes, without gaps.
    let bytes = unsafe { &*(&raw const page).cast::<[u8; Page::SIZE]>() };
    std::fs::write(path, bytes).unwrap();
}

/// A clock that is attached to such a page, whose file is gone.
fn attached(name: &str) -> SharedPage {
    let folder = std::env::temp_dir().join(format!("timebase-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder); // of a process of this number that was killed
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    let path = folder.join("page");
    publish(&path);
    let shared = SharedPage::attach(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    shared
}

#[test]
fn a_move_takes_the_promise_until_the_writer_has_seen_it() {
    let shared = attached("moved");
    assert_eq!(shared.now().status(), Status::Synchronized);
    shared.lock().moved.pretend();
    shared.renew().unwrap();
    assert_eq!(shared.now().status(), Status::Unreliable);
    assert_eq!(shared.at(ticks_ordered()).status(), Status::Unreliable);
    shared.renew().unwrap();
    assert_eq!(shared.now().status(), Status::Unreliable);
    (0..100).for_each(|_| shared.lock().moved.note_page(0, 0));
    shared.renew().unwrap();
    assert_eq!(shared.now().status(), Status::FreeRunning);
    shared.lock().moved.note_page(7, 0);
    shared.renew().unwrap();
    assert_eq!(shared.now().status(), Status::Synchronized);
}

type Deed = Box<dyn FnOnce()>;

thread_local! {
    static MEANWHILE: RefCell<Option<(&'static str, Deed)>> = const { RefCell::new(None) };
}

/// Where a thread may be held up for as long as it likes: what others do meanwhile.
pub(super) fn held_up(who: &str) {
    let is_meant = MEANWHILE.with_borrow(|deed| deed.as_ref().is_some_and(|(of, _)| *of == who));
    if is_meant {
        let (_, deed) = MEANWHILE.take().unwrap();
        deed();
    }
}

fn meanwhile(who: &'static str, deed: impl FnOnce() + 'static) {
    MEANWHILE.set(Some((who, Box::new(deed))));
}

/// The writer's lines, lower by 10 ms, take the place of the present ones.
fn show_lower(shared: &SharedPage) {
    let mut lines = shared.lock().lines;
    for line in [&mut lines.before, &mut lines.slew, &mut lines.after] {
        line.mono_ns -= 10_000_000;
        line.utc_ns -= 10_000_000;
    }
    shared.show(lines, 1 << 40, ticks_ordered(), 0).unwrap();
}

/// It has worked out a time by the old lines, and comes to tell it when there are lower ones.
#[test]
fn a_reader_that_is_held_up_tells_nothing_that_is_taken_back() {
    let shared = Rc::new(attached("reader"));
    std::thread::sleep(Duration::from_millis(25)); // the lease is over
    let of_writer = Rc::clone(&shared);
    meanwhile("reader", move || show_lower(&of_writer));
    let told = shared.draw_on();
    assert!(shared.now().mono_ns >= told.mono_ns);
}

/// It knows what was told up to now, and comes to publish when another has gone on by the old lines.
#[test]
fn a_renewer_that_is_held_up_takes_nothing_back() {
    let shared = Rc::new(attached("renewer"));
    let told = Rc::new(Cell::new(0));
    std::thread::sleep(Duration::from_millis(25));
    let (of_reader, heard) = (Rc::clone(&shared), Rc::clone(&told));
    meanwhile("renewer", move || {
        let first = of_reader.draw_on();
        std::thread::sleep(Duration::from_millis(2));
        let now = of_reader.draw_on();
        assert!(now.mono_ns >= first.mono_ns);
        assert!(now.maxerror_ns >= first.maxerror_ns + 1_000_000); // it stands still
        heard.set(now.mono_ns);
    });
    show_lower(&shared);
    assert!(told.get() > 0);
    assert!(shared.now().mono_ns >= told.get());
}

/// The counter stands `by` ticks before where it was. It cannot be moved, so all that was kept is moved
/// the other way; and `ahead_ns` further, as lines that are a little ahead of the clocks.
fn go_back(shared: &SharedPage, by: u64, ahead_ns: u64) {
    let later = |mut lines: Lines| {
        for line in [&mut lines.before, &mut lines.slew, &mut lines.after] {
            line.start_ticks = line.start_ticks.wrapping_add(by);
            line.mono_ns += ahead_ns;
        }
        lines
    };
    let mut mirror = shared.lock();
    mirror.lines = later(mirror.lines);
    mirror.changed_ticks = mirror.changed_ticks.wrapping_add(by);
    mirror.look_up_ticks = mirror.look_up_ticks.wrapping_add(by);
    for page in [shared.shown_page(), &shared.whole] {
        let (lines, refresh_ticks) = page.read_back().unwrap();
        page.publish(&later(lines), refresh_ticks);
    }
}

/// The writer's lines are as good as new there, and nobody draws them that far back.
#[test]
fn lines_are_not_drawn_back_for_a_counter_that_went_back() {
    const AHEAD_NS: u64 = 5_000_000;
    let shared = attached("back");
    let before = shared.now();
    let hour = 3600 * shared.lock().lines.ticks(1_000_000_000); // more than the bound explains
    go_back(&shared, hour, AHEAD_NS);
    let first_ns = kernel_clock_ns(ClockId::Realtime);
    let now = shared.now();
    let last_ns = kernel_clock_ns(ClockId::Realtime);
    assert_eq!(now.status(), Status::Unreliable);
    assert!(now.utc_ns >= first_ns - 1_000_000 && now.utc_ns <= last_ns + 1_000_000);
    assert!(now.mono_ns >= before.mono_ns + AHEAD_NS as i64); // what could have been told
    assert_eq!(shared.at(now.ticks).status(), Status::Unreliable);
    assert_eq!(shared.renew(), Err(Error::Disrupted));
}

/// What is shown stays to its end where the clocks lie lower, and whoever asks is told all the same.
#[test]
fn who_asks_again_within_the_lease_is_told_again() {
    let shared = attached("again");
    go_back(&shared, 0, 50_000_000);
    {
        let mut mirror = shared.lock();
        mirror.refresh_ticks = 0;
        let Lines { before, slew, after, .. } = &mut mirror.lines;
        for line in [before, slew, after] {
            line.maxerror_ns = 0;
        }
    }
    for _ in 0..3 {
        assert_eq!(shared.renew(), Err(Error::Disrupted));
    }
}

/// Lines over a counter that the kernel has thrown away are not followed, however new they are.
#[test]
fn a_counter_that_the_kernel_distrusts_is_read_by_the_clocks() {
    const DISTRUSTED: u32 = 0x200;
    let shared = attached("distrusted");
    let before = shared.now();
    shared.lock().lines.after.flags |= DISTRUSTED;
    std::thread::sleep(Duration::from_millis(25));
    assert_eq!(shared.renew(), Ok(()));
    let now = shared.now();
    assert_eq!(now.status(), Status::Unreliable);
    assert!(now.flags.is_counter_distrusted());
    assert!(now.maxerror_ns < 1 << 30, "{now:?}"); // of the look, not of the page
    assert!(now.mono_ns >= before.mono_ns);
}

/// Who finds the lock taken, and lines that nobody has renewed, holds them against the clocks, too.
#[test]
fn who_is_locked_out_is_told_that_the_lines_have_parted() {
    const AHEAD_NS: u64 = 5_000_000_000;
    let shared = attached("locked");
    let before = shared.now();
    std::thread::sleep(Duration::from_millis(25));
    let _lock = shared.lock();
    let (mut lines, _) = shared.whole.read_back().unwrap();
    for line in [&mut lines.before, &mut lines.slew, &mut lines.after] {
        line.mono_ns += AHEAD_NS;
        line.maxerror_ns = 0;
    }
    shared.whole.publish(&lines, 1 << 40);
    assert_eq!(shared.now().status(), Status::Synchronized); // they want no renewal yet
    shared.whole.publish(&lines, 0);
    let first_ns = kernel_clock_ns(ClockId::Realtime);
    let now = shared.now();
    assert_eq!(now.status(), Status::Unreliable);
    assert!(now.utc_ns >= first_ns && now.utc_ns <= kernel_clock_ns(ClockId::Realtime));
    assert!(now.mono_ns >= before.mono_ns + AHEAD_NS as i64 && now.maxerror_ns >= AHEAD_NS / 2);
}
