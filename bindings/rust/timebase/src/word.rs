// SPDX-License-Identifier: MIT
//! Words of a page. Each is an atomic, so that a copy that is being rewritten is read without a
//! data race: Rust's memory model, like C's, has no other way to look at it.
//!
//! 64-bit machines load a word whole. 32-bit machines load two halves, each atomic: the protocol
//! rejects halves of different publications like any other mixture (`spec/page.md`).

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::fence;
#[cfg(not(loom))]
use core::sync::atomic::Ordering;

#[cfg(loom)]
pub(crate) use crate::modelled::{fence, Half, Word};

/// 64 bits.
#[cfg(all(target_pointer_width = "64", not(loom)))]
#[repr(transparent)]
#[derive(Default)]
pub(crate) struct Word(core::sync::atomic::AtomicU64);

#[cfg(all(target_pointer_width = "64", not(loom)))]
impl Word {
    pub(crate) const fn new(value: u64) -> Self {
        Self(core::sync::atomic::AtomicU64::new(value))
    }

    #[inline(always)]
    pub(crate) fn load(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn store(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn store_release(&self, value: u64) {
        self.0.store(value, Ordering::Release);
    }

    /// A number of publications, looked at with this order.
    #[inline(always)]
    pub(crate) fn load_seq(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }

    pub(crate) fn store_seq(&self, seq: u64) {
        self.store_release(seq);
    }
}

#[cfg(all(target_pointer_width = "32", not(loom)))]
#[repr(C, align(8))]
#[derive(Default)]
pub(crate) struct Word([core::sync::atomic::AtomicU32; 2]);

#[cfg(all(target_pointer_width = "32", not(loom)))]
const LOWER: usize = if cfg!(target_endian = "big") { 1 } else { 0 };

#[cfg(all(target_pointer_width = "32", not(loom)))]
impl Word {
    pub(crate) const fn new(value: u64) -> Self {
        use core::sync::atomic::AtomicU32;
        let (lower, upper) = (value as u32, (value >> 32) as u32);
        if LOWER == 0 {
            Self([AtomicU32::new(lower), AtomicU32::new(upper)])
        } else {
            Self([AtomicU32::new(upper), AtomicU32::new(lower)])
        }
    }

    #[inline(always)]
    pub(crate) fn load(&self) -> u64 {
        let lower = self.0[LOWER].load(Ordering::Relaxed);
        let upper = self.0[1 - LOWER].load(Ordering::Relaxed);
        u64::from(upper) << 32 | u64::from(lower)
    }

    pub(crate) fn store(&self, value: u64) {
        self.0[LOWER].store(value as u32, Ordering::Relaxed);
        self.0[1 - LOWER].store((value >> 32) as u32, Ordering::Relaxed);
    }

    /// A reader that sees either half also sees what was stored before it.
    pub(crate) fn store_release(&self, value: u64) {
        self.0[LOWER].store(value as u32, Ordering::Release);
        self.0[1 - LOWER].store((value >> 32) as u32, Ordering::Release);
    }

    /// The lower half alone: a reader would have to sleep through 2^32 publications.
    #[inline(always)]
    pub(crate) fn load_seq(&self, order: Ordering) -> u64 {
        u64::from(self.0[LOWER].load(order))
    }

    pub(crate) fn store_seq(&self, seq: u64) {
        self.0[1 - LOWER].store((seq >> 32) as u32, Ordering::Relaxed);
        self.0[LOWER].store(seq as u32, Ordering::Release);
    }
}

/// 32 bits.
#[cfg(not(loom))]
#[repr(transparent)]
#[derive(Default)]
pub(crate) struct Half(core::sync::atomic::AtomicU32);

#[cfg(not(loom))]
impl Half {
    pub(crate) const fn new(value: u32) -> Self {
        Self(core::sync::atomic::AtomicU32::new(value))
    }

    #[inline(always)]
    pub(crate) fn load(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn store(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }
}
