// SPDX-License-Identifier: MIT
//! Following the page that another process publishes, in Rust alone: `spec/page.md`, "Reading a
//! shared file".

mod explain;
mod file;
mod mirror;
mod moment;
mod told;
mod trusted;
mod view;
mod witness;

pub use explain::AttachError;
pub use mirror::SharedPage;

use rustix::time::ClockId;

/// Where the daemon publishes.
pub const PAGE_PATH: &str = "/run/timebase/page";

/// A clock of the kernel. Where the processor's counter is off the vDSO, which reads it, would die:
/// then by system call.
#[cfg(not(any(miri, loom)))]
pub(crate) fn kernel_clock_ns(id: ClockId) -> i64 {
    if id == ClockId::MonotonicRaw || crate::counter_id() == crate::CounterId::Os {
        return system_call_ns(id);
    }
    let now = rustix::time::clock_gettime(id);
    now.tv_sec * 1_000_000_000 + now.tv_nsec as i64
}

#[cfg(not(any(miri, loom)))]
fn system_call_ns(id: ClockId) -> i64 {
    #[cfg(target_pointer_width = "64")]
    const CALL: libc::c_long = libc::SYS_clock_gettime;
    #[cfg(target_pointer_width = "32")]
    const CALL: libc::c_long = 403; // clock_gettime64, the same on all of them since Linux 5.1
    let mut now = [0i64; 2];
    // SAFETY: the kernel stores seconds and nanoseconds, 64 bits each, where the pointer is to.
    let result = unsafe { libc::syscall(CALL, id as libc::c_long, now.as_mut_ptr()) };
    if result != 0 {
        return i64::MIN; // strict seccomp leaves no clock
    }
    now[0].wrapping_mul(1_000_000_000).wrapping_add(now[1])
}

/// The models have the counter alone.
#[cfg(any(miri, loom))]
pub(crate) fn kernel_clock_ns(_id: ClockId) -> i64 {
    crate::arch::ticks() as i64
}
