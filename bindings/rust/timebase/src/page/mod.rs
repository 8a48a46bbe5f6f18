// SPDX-License-Identifier: MIT
//! The page: 640 bytes of memory that say what a tick means. `spec/page.md` is the specification.
//!
//! Two copies of three lines, and a number that says which copy is good: a writer rewrites the
//! other one, so readers never wait. Each fence names its partner on the other side:
//!
//! ```text
//! writer                                  reader
//! s = seq                                 s = seq, acquire          (A)
//! fence, release                    (B)   read refresh_ticks, relaxed
//! write copy[(s + 1) & 1], relaxed        read copy[s & 1], relaxed
//! lower refresh_ticks, relaxed            fence, acquire            (C)
//! seq = s + 1, release              (D)   accept if seq == s, relaxed
//! write refresh_ticks, release      (E)
//! ```

mod convert;
mod foreign;
mod inverse;
mod lines;
#[cfg(all(test, any(miri, loom)))]
mod model_tests;
mod publish;
mod read;
mod validate;

pub(crate) use lines::{flags_at, growth, Line, Lines, Validity, NEVER};

use crate::word::{Half, Word};

/// "TBPG" as a little-endian machine stores it.
pub(crate) const MAGIC: u32 = 0x4750_4254;
pub(crate) const VERSION: u32 = 2;

/// One line, one cache line. The words of a page that a writer may be rewriting.
#[repr(C)]
#[derive(Default)]
struct LineWords {
    start_ticks: Word,
    mono_ns: Word,
    utc_ns: Word,
    period_frac: Word,
    period_ns: Half,
    flags: Half,
    maxerror_ns: Word,
    drift_rate: Half,
    slew_rate: Half,
    utc_maxerror_ns: Word,
}

#[repr(C)]
#[derive(Default)]
struct ValidityWords {
    silent_ticks: Word,
    void_ticks: Word,
    before_esterror_ns: Word,
    slew_esterror_ns: Word,
    after_esterror_ns: Word,
    esterror_rate: Half,
    reserved32: Half,
    reserved: [Word; 2],
}

#[repr(C)]
#[derive(Default)]
struct CopyWords {
    before: LineWords,
    slew: LineWords,
    after: LineWords,
    validity: ValidityWords,
}

/// A page in memory. Its readers return `None` where the page has no line for what was asked: no
/// lines yet, lines that want renewal, or (never seen) a publication in each of 1,000 attempts.
///
/// ```
/// # #[cfg(all(feature = "sys", not(any(miri, loom))))] {
/// let clock = timebase::Clock::private();
/// clock.utc_ns(); // the first reading makes the lines
/// if let Some(reading) = clock.page().now() {
///     println!("{} ± {} ns", reading.utc(), reading.maxerror_ns);
/// }
/// # }
/// ```
#[repr(C, align(64))]
#[derive(Default)]
pub struct Page {
    seq: Word,
    refresh_ticks: Word,
    magic: Half,
    size: Half,
    version: Half,
    counter_id: Half,
    disruption_marker: Word,
    utc_step_count: Word,
    late_count: Word,
    incompatible: Half,
    reserved32: Half,
    vmclock_marker: Word,
    reserved: [Word; 7],
    copy: [CopyWords; 2],
}

#[cfg(not(loom))]
const _: () = {
    use core::mem::{align_of, offset_of, size_of};
    assert!(size_of::<Page>() == Page::SIZE && align_of::<Page>() == 64);
    assert!(size_of::<LineWords>() == 64 && size_of::<ValidityWords>() == 64);
    assert!(offset_of!(Page, refresh_ticks) == 8);
    assert!(offset_of!(Page, magic) == 16);
    assert!(offset_of!(Page, counter_id) == 28);
    assert!(offset_of!(Page, disruption_marker) == 32);
    assert!(offset_of!(Page, incompatible) == 56);
    assert!(offset_of!(Page, vmclock_marker) == 64);
    assert!(offset_of!(Page, copy) == 128);
    assert!(offset_of!(LineWords, flags) == 36);
    assert!(offset_of!(LineWords, maxerror_ns) == 40);
    assert!(offset_of!(LineWords, utc_maxerror_ns) == 56);
    assert!(offset_of!(ValidityWords, esterror_rate) == 40);
};

impl Page {
    /// Bytes of a page.
    pub const SIZE: usize = 640;

    /// How long a copy of a shared page may be used to tell now.
    pub const LEASE_NS: u64 = 20_000_000;

    /// The page at an address: a clock handle of the C library, or memory that another program of
    /// this machine shares.
    ///
    /// # Safety
    ///
    /// For as long as the reference lives, 640 bytes at `address`, aligned to 64, are readable, and
    /// whoever writes them does so by atomic operations on whole words. A file that somebody else
    /// can cut short must not be mapped (reading it would raise SIGBUS): use
    /// [`SharedPage`](crate::SharedPage). What the bytes say needs no trust: [`validate`] looks, and
    /// no conversion traps, loops or reads elsewhere whatever they are.
    ///
    /// [`validate`]: Self::validate
    #[inline]
    pub const unsafe fn from_ptr<'a>(address: *const u8) -> &'a Self {
        // SAFETY: the caller's word.
        unsafe { &*address.cast() }
    }

    /// Number of the present publication; 0: no lines here.
    pub fn seq(&self) -> u64 {
        self.seq.load_seq(core::sync::atomic::Ordering::Relaxed)
    }

    /// Whose ticks the lines take; `None` if this library does not know the counter.
    pub fn counter_id(&self) -> Option<crate::CounterId> {
        crate::CounterId::from_number(self.counter_id.load())
    }

    /// Changes when the counter's past is no guide to its future.
    pub fn disruption_marker(&self) -> u64 {
        self.disruption_marker.load()
    }

    /// Which moves the lines account for: the marker of the hypervisor's page, vmclock, as one
    /// number; 0: not told.
    #[cfg(feature = "std")]
    pub(crate) fn vmclock_marker(&self) -> u64 {
        self.vmclock_marker.load()
    }

    /// How often UTC was stepped.
    pub fn utc_step_count(&self) -> u64 {
        self.utc_step_count.load()
    }

    /// Publications that came after their first tick.
    pub fn late_count(&self) -> u64 {
        self.late_count.load()
    }

    fn copy_of(&self, seq: usize) -> &CopyWords {
        &self.copy[seq & 1]
    }
}

impl core::fmt::Debug for Page {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Page")
            .field("seq", &self.seq())
            .field("counter_id", &self.counter_id())
            .finish_non_exhaustive()
    }
}
