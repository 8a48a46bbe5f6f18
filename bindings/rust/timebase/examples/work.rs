// SPDX-License-Identifier: MIT
//! work: the function of examples/work.toml, in Rust. cargo build --example work makes libwork.so.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

static SAMPLES: [AtomicU32; 256] = [const { AtomicU32::new(0) }; 256];
static NEXT: AtomicU32 = AtomicU32::new(0);

/// As long as it is in the cache, this takes a few ns. With a time-out it may be left at any
/// instruction: it holds no lock and leaves nothing half-done.
#[no_mangle]
pub extern "C" fn sample(argument: *mut c_void) {
    let next = NEXT.load(Ordering::Relaxed);
    NEXT.store(next.wrapping_add(1), Ordering::Relaxed);
    SAMPLES[next as usize % SAMPLES.len()].store(argument as usize as u32, Ordering::Relaxed);
}
