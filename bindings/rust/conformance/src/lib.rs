// SPDX-License-Identifier: MIT
//! What the conformance tests share: where things are, the vectors, the live writer and its law.

pub mod law;
pub mod stand;
pub mod vectors;

/// C's inline readings in batches, and its structures.
#[cfg(feature = "sys")]
pub mod c {
    use std::ffi::{c_char, c_void};

    #[repr(C)]
    #[derive(Debug)]
    pub struct Layout {
        pub name: *const c_char,
        pub size: usize,
        pub align: usize,
        pub last: usize,
    }

    extern "C" {
        pub fn inline_utc_ns(clock: *const c_void, count: u64) -> u64;
        pub fn inline_mono_ns(clock: *const c_void, count: u64) -> u64;
        pub fn inline_utc_bounded(clock: *const c_void, count: u64) -> u64;
        pub fn inline_ticks(clock: *const c_void, count: u64) -> u64;
        pub static conformance_layouts: Layout;
        pub static conformance_layout_count: usize;
    }
}
