// SPDX-License-Identifier: MIT

//! The body of a Rust probe: a fresh process that links one peer only. Its command line and output
//! are those of `cxx/probe.hpp`.

use std::time::Duration;

/// Peer - reference in ns, and the width of the sandwich it was taken from.
struct Offset {
    ns: i64,
    width_ns: i64,
}

fn kernel_ns(clock: libc::clockid_t) -> i64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec to write to.
    let status = unsafe { libc::clock_gettime(clock, &mut now) };
    assert_eq!(status, 0, "clock_gettime({clock})");
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// The narrowest of 1500 sandwiches: interrupts and cache misses widen a sandwich, and a wide one is
/// not taken.
fn narrowest(reference: libc::clockid_t, read: &mut impl FnMut() -> i64) -> Offset {
    let mut best = Offset {
        ns: 0,
        width_ns: i64::MAX,
    };
    for _ in 0..1500 {
        let before = kernel_ns(reference);
        let reading = read();
        let width_ns = kernel_ns(reference) - before;
        if (0..best.width_ns).contains(&width_ns) {
            best = Offset {
                ns: reading - (before + width_ns / 2),
                width_ns,
            };
        }
    }
    best
}

/// A self-disciplined peer learns only when it is read, so it is read every 10 ms, as a user would.
fn read_until(mono_ns: i64, read: &mut impl FnMut() -> i64) {
    while kernel_ns(libc::CLOCK_MONOTONIC) < mono_ns {
        read();
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn errors(marks: &[String], reference: libc::clockid_t, read: &mut impl FnMut() -> i64) {
    let begin = kernel_ns(libc::CLOCK_MONOTONIC);
    let zero = if reference == libc::CLOCK_MONOTONIC {
        narrowest(reference, read).ns
    } else {
        0
    };
    for mark in marks {
        let seconds: i64 = mark.parse().expect("a mark is a whole number of seconds");
        read_until(begin + seconds * 1_000_000_000, read);
        let at = narrowest(reference, read);
        println!("{mark} {} {}", at.ns - zero, at.width_ns);
    }
}

/// Takes the first reading and then does what the command line says. The reference is
/// CLOCK_REALTIME for a UTC clock, CLOCK_MONOTONIC for an interval clock.
pub fn run(reference: libc::clockid_t, fell_back: bool, mut read: impl FnMut() -> i64) {
    read();
    let first_ns = kernel_ns(libc::CLOCK_MONOTONIC);
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    match arguments.split_first() {
        Some((mode, [])) if mode == "start" => println!("{first_ns} {}", i32::from(fell_back)),
        Some((mode, marks)) if mode == "error" && !marks.is_empty() => {
            println!("ready {}", i32::from(fell_back));
            errors(marks, reference, &mut read);
        }
        _ => panic!("usage: CLOCK start | error SECONDS..."),
    }
}
