// SPDX-License-Identifier: MIT

//! The Rust peers as a C library: the loops are Rust, the driver enters once a batch.

use std::cell::RefCell;
use std::ffi::c_char;
use std::hint::black_box;
use std::time::{Instant, SystemTime};

struct Peer {
    name: &'static [u8], // ends in a NUL, because C reads it
    run: fn(u64) -> u64,
    fell_back: fn() -> bool,
}

/// Makes `calls` readings; `black_box` is the user who looks at each (one store to the stack).
fn repeat<T>(calls: u64, mut read: impl FnMut() -> T) -> u64 {
    for _ in 0..calls {
        black_box(read());
    }
    calls
}

fn never() -> bool {
    false
}

fn minstant_fell_back() -> bool {
    !minstant::is_tsc_available()
}

fn fastant_fell_back() -> bool {
    !fastant::is_tsc_available()
}

fn counter(calls: u64) -> u64 {
    repeat(calls, || unsafe { core::arch::x86_64::_rdtsc() })
}

fn std_elapsed(calls: u64) -> u64 {
    let began = Instant::now();
    repeat(calls, || began.elapsed())
}

fn quanta_clock(calls: u64) -> u64 {
    thread_local!(static CLOCK: quanta::Clock = quanta::Clock::new());
    CLOCK.with(|clock| repeat(calls, || clock.now()))
}

fn quanta_elapsed(calls: u64) -> u64 {
    let began = quanta::Instant::now();
    repeat(calls, || began.elapsed())
}

fn minstant_elapsed(calls: u64) -> u64 {
    let began = minstant::Instant::now();
    repeat(calls, || began.elapsed())
}

fn minstant_unix(calls: u64) -> u64 {
    let anchor = minstant::Anchor::new();
    repeat(calls, || minstant::Instant::now().as_unix_nanos(&anchor))
}

fn fastant_unix(calls: u64) -> u64 {
    let anchor = fastant::Anchor::new();
    repeat(calls, || fastant::Instant::now().as_unix_nanos(&anchor))
}

/// The segment's path comes from the environment; run.py has had `clock_bound_segment` write it.
fn clock_bound_client() -> clock_bound::Client {
    let path =
        std::env::var("PEERS_CLOCK_BOUND_SEGMENT").expect("PEERS_CLOCK_BOUND_SEGMENT is not set");
    clock_bound::Client::new_with_path(&path)
        .unwrap_or_else(|error| panic!("clock-bound: {error:?}"))
}

fn clock_bound_now(calls: u64) -> u64 {
    thread_local!(static CLIENT: RefCell<clock_bound::Client> = RefCell::new(clock_bound_client()));
    CLIENT.with_borrow_mut(|client| repeat(calls, || client.now().expect("clock-bound: now")))
}

const PEERS: &[Peer] = &[
    Peer {
        name: b"rust_counter\0",
        run: counter,
        fell_back: never,
    },
    Peer {
        name: b"rust_instant\0",
        run: |calls| repeat(calls, Instant::now),
        fell_back: never,
    },
    Peer {
        name: b"rust_instant_elapsed\0",
        run: std_elapsed,
        fell_back: never,
    },
    Peer {
        name: b"rust_system_time\0",
        run: |calls| repeat(calls, SystemTime::now),
        fell_back: never,
    },
    Peer {
        name: b"quanta_instant\0",
        run: |calls| repeat(calls, quanta::Instant::now),
        fell_back: never,
    },
    Peer {
        name: b"quanta_clock\0",
        run: quanta_clock,
        fell_back: never,
    },
    Peer {
        name: b"quanta_elapsed\0",
        run: quanta_elapsed,
        fell_back: never,
    },
    Peer {
        name: b"minstant_now\0",
        run: |calls| repeat(calls, minstant::Instant::now),
        fell_back: minstant_fell_back,
    },
    Peer {
        name: b"minstant_elapsed\0",
        run: minstant_elapsed,
        fell_back: minstant_fell_back,
    },
    Peer {
        name: b"minstant_unix\0",
        run: minstant_unix,
        fell_back: minstant_fell_back,
    },
    Peer {
        name: b"fastant_now\0",
        run: |calls| repeat(calls, fastant::Instant::now),
        fell_back: fastant_fell_back,
    },
    Peer {
        name: b"fastant_unix\0",
        run: fastant_unix,
        fell_back: fastant_fell_back,
    },
    Peer {
        name: b"clock_bound_now\0",
        run: clock_bound_now,
        fell_back: never,
    },
];

#[no_mangle]
pub extern "C" fn rust_peer_name(peer: u32) -> *const c_char {
    PEERS
        .get(peer as usize)
        .map_or(std::ptr::null(), |found| found.name.as_ptr().cast())
}

#[no_mangle]
pub extern "C" fn rust_peer_run(peer: u32, calls: u64) -> u64 {
    PEERS
        .get(peer as usize)
        .map_or(0, |found| (found.run)(calls))
}

#[no_mangle]
pub extern "C" fn rust_peer_fell_back(peer: u32) -> i32 {
    PEERS
        .get(peer as usize)
        .map_or(0, |found| (found.fell_back)().into())
}
