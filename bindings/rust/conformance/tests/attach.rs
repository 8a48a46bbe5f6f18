// SPDX-License-Identifier: MIT
//! Files that are a page, and files that are none or not to be trusted: each refused by its name
//! and in words that help. Once in Rust alone and, with `sys`, once through C.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use timebase::{AttachError, Clock, Error, SharedPage, Status};
use timebase_conformance::stand::{is_emulated, Folder};

type Attach = fn(&Path) -> Result<Clock, AttachError>;

fn ways() -> Vec<(&'static str, Attach)> {
    let mut ways: Vec<(&'static str, Attach)> =
        vec![("without C", |path| Clock::attach_without_c(path))];
    if cfg!(feature = "sys") {
        ways.push(("by C", |path| Clock::attach(path)));
    }
    ways
}

fn named(name: &str) -> Error {
    match name {
        "TIMEBASE_E_NOT_FOUND" => Error::NotFound,
        "TIMEBASE_E_UNTRUSTED" => Error::Untrusted,
        "TIMEBASE_E_FORMAT" => Error::Format,
        "TIMEBASE_E_UNSUPPORTED" => Error::Unsupported,
        "TIMEBASE_E_STALE" => Error::Stale,
        "TIMEBASE_E_INVALID" => Error::Invalid,
        _ => panic!("{name}"),
    }
}

#[test]
fn each_file_of_pages() {
    let folder = Folder::with_pages("pages");
    let expected = std::fs::read_to_string(folder.0.join("expected")).expect("the table");
    let mut tried = 0;
    for (way, attach) in ways() {
        for line in expected.lines() {
            let [name, error, status] = line.split_whitespace().collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let attached = attach(&folder.0.join(name));
            if error == "OK" {
                let clock = attached.unwrap_or_else(|error| panic!("{way}, {name}: {error}"));
                assert_eq!(clock.now().status().name(), status, "{way}, {name}");
            } else {
                let got = attached.expect_err(name);
                assert_eq!(got.error(), named(error), "{way}, {name}: {got}");
                assert!(got.to_string().starts_with(folder.0.to_str().unwrap()), "{got}");
                println!("{way}: {got}");
            }
            tried += 1;
        }
    }
    assert!(tried >= 19);
}

#[test]
fn messages_say_what_to_do() {
    let folder = Folder::with_pages("messages");
    for (name, words) in [
        ("version-1", "a page of version 1; this program reads version 2: restart the writer"),
        ("missing", "is timebased running"),
        ("link", "is a link"),
        ("stranger", "let root or this user own"),
        ("other-counter", "another counter"),
        ("feature", "upgrade"),
        ("truncated", "cut short: 100 of 640 bytes"),
        ("empty", "cut short: 0 of 640 bytes"),
        ("pipe", "is no regular file"),
        ("folder", "is no regular file"),
        ("text", "no timebase page"),
        ("hostile", "lines that cannot be"),
        ("no-lines", "no lines yet"),
        ("not-begun", "its lines have not begun"),
        ("other-time", "its time is not the system clock's"),
    ] {
        for (way, attach) in ways() {
            let error = attach(&folder.0.join(name)).expect_err(name).to_string();
            assert!(error.contains(words), "{way}, {name}: {error}");
        }
    }
}

#[test]
fn paths_that_are_no_files() {
    let folder = Folder::new("paths");
    let pipe = folder.0.join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .expect("a pipe");
    let long = format!("/{}", "a/".repeat(3000));
    for (path, wanted) in [
        (folder.0.to_str().unwrap(), Error::Untrusted),
        (pipe.to_str().unwrap(), Error::Untrusted),
        ("/dev/zero", Error::Untrusted),
        ("", Error::Invalid),
        ("a\0b", Error::Invalid),
        (&format!("/{}", "b".repeat(300)), Error::Invalid),
    ] {
        for (way, attach) in ways() {
            let got = attach(Path::new(path)).expect_err(path);
            assert_eq!(got.error(), wanted, "{way}, {path}: {got}");
        }
    }
    for (_, attach) in ways() {
        assert!(attach(Path::new(&long)).is_err());
    }
}

#[test]
fn a_folder_that_others_may_write() {
    let folder = Folder::with_pages("open");
    std::fs::set_permissions(&folder.0, std::fs::Permissions::from_mode(0o777)).expect("its mode");
    for (way, attach) in ways() {
        let got = attach(&folder.0.join("good")).expect_err(way);
        assert_eq!(got.error(), Error::Untrusted, "{way}");
    }
}

/// Reads until the lease has run out several times; time never goes back.
fn read_for(clock: &Clock, duration: Duration) -> i64 {
    let (start, mut latest) = (std::time::Instant::now(), clock.mono_ns());
    while start.elapsed() < duration {
        for _ in 0..1000 {
            let now = clock.mono_ns();
            assert!(now >= latest, "{now} after {latest}");
            latest = now;
        }
    }
    latest
}

const LEASES: Duration = Duration::from_millis(70);

#[test]
fn whatever_becomes_of_the_file() {
    for (way, attach) in ways() {
        let folder = Folder::with_pages("life");
        let path = folder.0.join("good");
        let clock = attach(&path).expect(way);
        let mut latest = read_for(&clock, LEASES);
        let mut is_later = |now: i64| {
            assert!(now >= latest, "{way}");
            latest = now;
        };
        // Cut short, emptied, filled with ones: what was read goes on.
        for length in [300, 0] {
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
            is_later(read_for(&clock, LEASES));
        }
        std::fs::write(&path, [0xff; 640]).expect("hostile bytes");
        is_later(read_for(&clock, LEASES));
        // Deleted, and another file in its place after a while.
        std::fs::remove_file(&path).expect("deleted");
        is_later(read_for(&clock, LEASES));
        folder.make_pages();
        is_later(read_for(&clock, Duration::from_millis(700)));
        assert_eq!(clock.now().status(), Status::Synchronized, "{way}");
    }
}

#[test]
fn a_page_in_a_folder_by_a_relative_path() {
    let folder = Folder::with_pages("relative");
    std::env::set_current_dir(&folder.0).expect("the folder");
    for (way, attach) in ways() {
        let clock = attach(Path::new("good")).expect(way);
        assert_eq!(clock.now().status(), Status::Synchronized);
        let reading = clock.now();
        let again = clock.at(reading.ticks);
        assert_eq!((again.mono_ns, again.utc_ns), (reading.mono_ns, reading.utc_ns), "{way}");
        assert!(clock.ticks_at_mono(reading.mono_ns) <= reading.ticks, "{way}");
        assert!(reading.utc_interval().contains(reading.utc_ns));
    }
    std::env::set_current_dir("/").expect("/");
}

/// Two programs that follow one page say the same of a tick, with C or without.
#[test]
fn all_readers_say_the_same() {
    let folder = Folder::with_pages("same");
    let clocks: Vec<Clock> =
        ways().iter().map(|(way, attach)| attach(&folder.0.join("good")).expect(way)).collect();
    for _ in 0..2000 {
        let ticks = timebase::ticks_ordered();
        let readings: Vec<_> = clocks.iter().map(|clock| clock.at(ticks)).collect();
        for reading in &readings {
            assert_eq!(reading, &readings[0]);
        }
    }
}

/// Many threads at the end of each lease: one renews, nobody goes back; under an emulator, nobody by
/// himself.
#[test]
fn threads_share_a_clock() {
    let folder = Folder::with_pages("threads");
    for (way, attach) in ways() {
        let clock = attach(&folder.0.join("good")).expect(way);
        let newest = std::sync::atomic::AtomicI64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    use std::sync::atomic::Ordering::{Acquire, Release};
                    let start = std::time::Instant::now();
                    let mut own = 0;
                    while start.elapsed() < LEASES * 3 {
                        let published = if is_emulated() { own } else { newest.load(Acquire) };
                        let now = clock.mono_ns();
                        own = now;
                        assert!(now >= published, "{way}: {now} after {published}");
                        newest.store(now.max(published), Release);
                    }
                });
            }
        });
    }
}

#[test]
fn renewing_by_hand() {
    let folder = Folder::with_pages("renew");
    let path = folder.0.join("good");
    let shared = SharedPage::attach(&path).expect("a page");
    for _ in 0..100 {
        assert_eq!(shared.renew(), Ok(()));
    }
    std::fs::remove_file(&path).expect("deleted");
    let before = shared.now();
    let _ = shared.renew();
    assert!(shared.now().mono_ns >= before.mono_ns);
}

#[test]
fn a_process_without_the_counter() {
    let folder = Folder::with_pages("confined");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_confined"))
        .arg(folder.0.join("good"))
        .output();
    // Under an emulator a program cannot start another of its kind: there is no switch there either.
    if cfg!(target_arch = "x86_64") {
        let output = output.expect("confined runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: {errors}", output.status);
    }
}

/// The same page with all its times so much earlier.
fn earlier(bytes: &[u8], by_ns: u64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let seq = u64::from_ne_bytes(bytes[..8].try_into().unwrap());
    let copy = 128 + (seq as usize & 1) * 256;
    for line in 0..3 {
        for field in [8, 16] {
            let at = copy + line * 64 + field;
            let ns = u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap()) - by_ns;
            bytes[at..at + 8].copy_from_slice(&ns.to_ne_bytes());
        }
    }
    bytes
}

/// Another writer's lines lie 90 ms lower: time goes on, slower, until they have overtaken it.
#[test]
fn a_lower_page_does_not_turn_time_back() {
    const LOWER: Duration = Duration::from_millis(90);
    for (way, attach) in ways() {
        let folder = Folder::with_pages("lower");
        let path = folder.0.join("good");
        let clock = attach(&path).expect(way);
        read_for(&clock, LEASES);
        let lower = earlier(&std::fs::read(&path).expect("the page"), LOWER.as_nanos() as u64);
        std::fs::write(folder.0.join("new"), lower).expect("another page");
        std::fs::rename(folder.0.join("new"), &path).expect("in its place");
        let before = clock.now();
        read_for(&clock, Duration::from_millis(1500));
        let fresh = attach(&path).expect(way);
        let ticks = timebase::ticks_ordered();
        let (old, new) = (clock.at(ticks), fresh.at(ticks));
        assert_eq!(old.mono_ns, new.mono_ns, "{way}: it follows the new page by now");
        let elapsed = clock.now().mono_ns - before.mono_ns;
        assert!(elapsed > 500_000_000, "{way}: {elapsed} ns in 1.5 s");
    }
}
