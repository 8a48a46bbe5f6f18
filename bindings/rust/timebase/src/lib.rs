// SPDX-License-Identifier: MIT
//! Time from the processor's own counter.
//!
//! A *page* of 640 bytes says what a tick of the counter means; a reading costs one ordered read of
//! the counter and some instructions of this crate's own: no system call, no foreign call. Each
//! reading knows how wrong it can be.
//!
//! ```
//! # #[cfg(all(feature = "sys", not(any(miri, loom))))] {
//! use timebase::Clock;
//!
//! let clock = Clock::new(); // the daemon's page if there is one, else this process' own
//! println!("{}", clock.utc());
//!
//! let reading = clock.now(); // one tick, and everything it says
//! println!("{} ± {} ns, {}", reading.utc(), reading.maxerror_ns, reading.status());
//!
//! let start = timebase::Instant::now();
//! println!("{:?}", start.elapsed());
//! # }
//! ```
//!
//! # What needs what
//!
//! | feature | gives | needs |
//! |---|---|---|
//! | none | [`Page`]: reading a page in memory; [`ticks`], [`Stopwatch`] | nothing: `no_std`, no allocation, no C |
//! | `std` | [`SharedPage`] and [`Clock::attach_without_c`]: following the daemon's page; [`Clock::mock`] | the kernel; no C |
//! | `sys` (default) | [`Clock::private`], [`Waiter`], calendars, timelines, real-time settings | libtimebase, found by pkg-config or compiled |
//! | `tracing` | [`TracingTimer`] for `tracing-subscriber` | that crate |
//! | `metrics` | [`Elapsed::record`] into a histogram of the crate `metrics` | that crate |
//!
//! Processors: x86-64 and i686, AArch64, riscv64, s390x; powerpc64 of both orders and powerpc with
//! Rust 1.95 or later, which is the first that has their `asm!`. Any other takes the kernel's
//! `CLOCK_MONOTONIC_RAW` for its counter.
//!
//! # Ordering
//!
//! Reads without suffix are ordered after all earlier loads: if one thread's reading happens before
//! another's, it is not later. `_unordered` reads are the cheapest, and order nothing.
//!
//! # Panics across C
//!
//! None: closures that the C library calls are called under `catch_unwind`, and their panic goes on
//! in Rust when C has returned.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(missing_docs)]

mod arch;
mod counter;
mod error;
mod granularity;
mod instant;
mod interval;
#[cfg(loom)]
mod modelled;
mod page;
mod reading;
mod stopwatch;
mod time;
mod word;

#[cfg(feature = "metrics")]
mod histogram;
#[cfg(feature = "tracing")]
mod timer;

pub use counter::{counter_id, ticks, ticks_ordered, CounterId, PROCESSOR_COUNTER};
pub use error::Error;
pub use instant::Instant;
pub use interval::Interval;
pub use page::Page;
pub use reading::{ms_from_ns, tai_from_utc, Flags, Reading, Status};
pub use stopwatch::{Elapsed, Lap, Stopwatch};
pub use time::UtcTime;

#[cfg(feature = "std")]
pub use counter::ticks_os;

#[cfg(feature = "std")]
mod clock;
#[cfg(feature = "std")]
mod mock;
#[cfg(feature = "std")]
mod shared;
#[cfg(feature = "std")]
pub use clock::Clock;
#[cfg(feature = "std")]
pub use mock::MockClock;
#[cfg(feature = "std")]
pub use shared::{AttachError, SharedPage, PAGE_PATH};
#[cfg(feature = "std")]
pub use time::OutOfRange;
#[cfg(feature = "tracing")]
pub use timer::TracingTimer;

#[cfg(all(feature = "sys", not(any(miri, loom))))]
mod with_c;
#[cfg(all(feature = "sys", not(any(miri, loom))))]
pub use with_c::*;
