// SPDX-License-Identifier: MIT
//! Reading the processor's counter.
//!
//! A tick is one step of the counter; its length is in a page's lines. Ticks are unsigned 64-bit
//! numbers and wrap: compare them by subtraction, `a.wrapping_sub(b) as i64 < 0`.

use crate::arch;

/// Which counter a page's ticks are of. The numbers are those of `spec/page.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum CounterId {
    /// Arm's virtual count.
    ArmVcnt = 0,
    /// The Time Stamp Counter.
    X86Tsc = 1,
    /// The Time Base of Power.
    PowerTb = 16,
    /// RISC-V's `time`.
    RiscvTime = 17,
    /// The time-of-day clock of IBM Z.
    S390Tod = 18,
    /// `CLOCK_MONOTONIC_RAW`, one tick a nanosecond: the counter of last resort.
    Os = 32,
    /// The processor's counter, corrected by a table of CPUs, where C code of this process asks for it.
    ByCpu = 33,
}

impl CounterId {
    /// The counter that a page names, if it is one that this library knows.
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::ArmVcnt,
            1 => Self::X86Tsc,
            16 => Self::PowerTb,
            17 => Self::RiscvTime,
            18 => Self::S390Tod,
            32 => Self::Os,
            33 => Self::ByCpu,
            _ => return None,
        })
    }

    /// "TSC", "Time Base": for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ArmVcnt => "CNTVCT",
            Self::X86Tsc => "TSC",
            Self::PowerTb => "Time Base",
            Self::RiscvTime => "time",
            Self::S390Tod => "TOD",
            Self::Os => "OS clock",
            Self::ByCpu => "counter corrected by CPU",
        }
    }
}

impl core::fmt::Display for CounterId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// The counter of the processor that this program is built for.
pub const PROCESSOR_COUNTER: CounterId = arch::COUNTER;

/// The counter, as cheaply as the processor allows. The read may move before earlier and after
/// later instructions: good for stamps within a thread, wrong for comparing with what another core
/// did.
///
/// ```
/// let start = timebase::ticks_ordered();
/// let elapsed_ticks = timebase::ticks_ordered().wrapping_sub(start);
/// assert!((elapsed_ticks as i64) >= 0);
/// ```
#[inline]
pub fn ticks() -> u64 {
    if is_readable() {
        arch::ticks()
    } else {
        ticks_cold()
    }
}

/// The counter, read after all earlier loads have got their values. If one core publishes a value
/// that it read here (store release), and another core sees it (load acquire) and then reads the
/// counter here, the second value is not smaller, provided the cores' counters are synchronised.
#[inline]
pub fn ticks_ordered() -> u64 {
    if is_readable() {
        arch::ticks_ordered()
    } else {
        ticks_cold()
    }
}

/// For the stopwatch: everything before has completed, nothing after has begun.
#[inline(always)]
pub(crate) fn ticks_begin() -> u64 {
    if is_readable() {
        arch::ticks_begin()
    } else {
        ticks_cold()
    }
}

#[inline(always)]
pub(crate) fn ticks_end() -> u64 {
    if is_readable() {
        arch::ticks_end()
    } else {
        ticks_cold()
    }
}

pub use readable::counter_id;
#[cfg(feature = "std")]
pub use readable::ticks_os;
use readable::{is_readable, ticks_cold};

/// With the C library: its word on whether the counter may be read, which
/// [`counter_select`](crate::counter_select) can change.
#[cfg(all(feature = "sys", not(any(miri, loom))))]
mod readable {
    use super::CounterId;
    use core::sync::atomic::{AtomicI32, Ordering};

    #[inline(always)]
    pub(super) fn is_readable() -> bool {
        // SAFETY: an int that C reads and writes by atomic operations alone; both types have its
        // size and alignment.
        let flag = unsafe {
            AtomicI32::from_ptr(core::ptr::addr_of_mut!(timebase_sys::timebase_counter_readable))
        };
        flag.load(Ordering::Relaxed) != 0
    }

    #[cold]
    #[inline(never)]
    pub(super) fn ticks_cold() -> u64 {
        // SAFETY: no conditions.
        unsafe { timebase_sys::timebase_ticks_ordered_probe() }
    }

    /// `CLOCK_MONOTONIC_RAW` in nanoseconds: the counter of last resort, always readable.
    pub fn ticks_os() -> u64 {
        // SAFETY: no conditions.
        unsafe { timebase_sys::timebase_ticks_os() }
    }

    /// The counter that [`ticks`](crate::ticks) reads.
    pub fn counter_id() -> CounterId {
        // SAFETY: no conditions.
        let id = unsafe { timebase_sys::timebase_counter_id() };
        CounterId::from_number(id as u32).unwrap_or(CounterId::Os)
    }
}

/// Without C: the kernel is asked once whether the counter may be read.
#[cfg(all(feature = "std", any(miri, loom, not(feature = "sys"))))]
mod readable {
    use super::{CounterId, PROCESSOR_COUNTER};
    use core::sync::atomic::{AtomicU8, Ordering};

    const UNKNOWN: u8 = 0;
    const PROCESSOR: u8 = 1;
    const OS: u8 = 2;
    static SOURCE: AtomicU8 = AtomicU8::new(UNKNOWN);

    #[inline(always)]
    pub(super) fn is_readable() -> bool {
        SOURCE.load(Ordering::Relaxed) == PROCESSOR
    }

    /// Threads that ask at once find the same answer.
    fn source() -> u8 {
        let mut source = SOURCE.load(Ordering::Relaxed);
        if source == UNKNOWN {
            source = if may_be_read() { PROCESSOR } else { OS };
            SOURCE.store(source, Ordering::Relaxed);
        }
        source
    }

    #[cold]
    #[inline(never)]
    pub(super) fn ticks_cold() -> u64 {
        if source() == PROCESSOR {
            crate::arch::ticks_ordered()
        } else {
            ticks_os()
        }
    }

    /// `CLOCK_MONOTONIC_RAW` in nanoseconds: the counter of last resort, always readable.
    #[cfg(not(any(miri, loom)))]
    pub fn ticks_os() -> u64 {
        crate::shared::kernel_clock_ns(rustix::time::ClockId::MonotonicRaw) as u64
    }

    /// In a model: the model's counter.
    #[cfg(any(miri, loom))]
    pub fn ticks_os() -> u64 {
        crate::arch::ticks()
    }

    /// The counter that [`ticks`](crate::ticks) reads.
    pub fn counter_id() -> CounterId {
        if source() == PROCESSOR {
            PROCESSOR_COUNTER
        } else {
            CounterId::Os
        }
    }

    /// Would reading the counter raise SIGSEGV, or is there no ordered read?
    #[cfg(all(any(target_arch = "x86_64", target_arch = "x86"), not(miri)))]
    fn may_be_read() -> bool {
        #[cfg(target_arch = "x86")]
        use core::arch::x86::__cpuid;
        #[cfg(target_arch = "x86_64")]
        use core::arch::x86_64::__cpuid;
        use rustix::process::{time_stamp_counter_readability, TimeStampCounterReadability};
        const EXTENDED: u32 = 0x8000_0000;
        const RDTSCP: u32 = 1 << 27;
        let is_off = match time_stamp_counter_readability() {
            Ok(readability) => readability == TimeStampCounterReadability::RaiseSIGSEGV,
            Err(error) => error != rustix::io::Errno::INVAL,
        };
        // SAFETY: every processor that Rust's own library runs on has CPUID.
        #[allow(unused_unsafe)]
        let has_rdtscp =
            unsafe { __cpuid(EXTENDED).eax > EXTENDED && __cpuid(EXTENDED + 1).edx & RDTSCP != 0 };
        !is_off && has_rdtscp
    }

    /// The counters of the other processors are part of the user-mode architecture.
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "x86"))))]
    fn may_be_read() -> bool {
        PROCESSOR_COUNTER != CounterId::Os
    }
}

/// Without an operating system nobody can be asked: the processor's counter is read, and traps
/// where it must not be.
#[cfg(not(feature = "std"))]
mod readable {
    use super::{CounterId, PROCESSOR_COUNTER};

    #[inline(always)]
    pub(super) fn is_readable() -> bool {
        true
    }

    pub(super) fn ticks_cold() -> u64 {
        crate::arch::ticks_ordered()
    }

    #[cfg(not(any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "powerpc64",
        target_arch = "powerpc",
        target_arch = "riscv64",
        target_arch = "s390x"
    )))]
    compile_error!("timebase reads no counter of this processor: enable the feature `std`");

    /// The counter that [`ticks`](crate::ticks) reads.
    pub fn counter_id() -> CounterId {
        PROCESSOR_COUNTER
    }
}

#[cfg(all(feature = "sys", not(any(miri, loom))))]
pub use probed::{counter_select, Counter};

#[cfg(all(feature = "sys", not(any(miri, loom))))]
mod probed {
    use super::CounterId;
    use crate::with_c::text;
    use crate::Error;
    use timebase_sys as sys;

    /// What is known about the counter of this machine.
    #[derive(Clone)]
    pub struct Counter(sys::timebase_counter);

    impl Counter {
        /// Finds out, in about 5 ms, most of it for the frequency. Keep the result.
        pub fn probe() -> Self {
            // SAFETY: plain numbers and text, for which zeros are values; the pointer is to it.
            let mut counter = unsafe { core::mem::zeroed() };
            unsafe { sys::timebase_counter_probe(&mut counter) };
            Self(counter)
        }

        /// Ticks a second, measured or confirmed.
        pub fn frequency_hz(&self) -> u64 {
            self.0.frequency_hz
        }

        /// The frequency is wrong by no more than this; `None`: not known.
        pub fn frequency_error_hz(&self) -> Option<u64> {
            (self.0.frequency_error_hz != u64::MAX).then_some(self.0.frequency_error_hz)
        }

        /// Where the frequency came from: "CPUID", "measured".
        pub fn frequency_source(&self) -> &'static str {
            // SAFETY: constant text for every number.
            unsafe { text(sys::timebase_frequency_source_name(self.0.frequency_source)) }
        }

        /// "invariant", "non-stop": how it behaves when the processor changes its pace.
        pub fn class(&self) -> &'static str {
            // SAFETY: constant text for every number.
            unsafe { text(sys::timebase_counter_class_name(self.0.counter_class)) }
        }

        /// "TSC".
        pub fn name(&self) -> &'static str {
            // SAFETY: constant text for every number.
            unsafe { text(sys::timebase_counter_name(self.0.id)) }
        }

        /// 0 unusable … 100 nothing to complain of.
        pub fn quality(&self) -> i32 {
            self.0.quality
        }

        /// The counter's step in ticks, at least 1; 24.5 is told as 25.
        pub fn granularity_ticks(&self) -> u64 {
            self.0.granularity_ticks
        }

        /// Why the quality is what it is, worst first.
        pub fn reasons(&self) -> impl Iterator<Item = &'static str> + '_ {
            (0..).map_while(|n| {
                // SAFETY: constant text, or null after the last.
                let reason = unsafe { sys::timebase_counter_reason(&self.0, n) };
                (!reason.is_null()).then(|| unsafe { text(reason) })
            })
        }

        /// All of it, as C has it.
        pub fn as_sys(&self) -> &sys::timebase_counter {
            &self.0
        }
    }

    impl core::fmt::Debug for Counter {
        fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            f.debug_struct("Counter")
                .field("name", &self.name())
                .field("class", &self.class())
                .field("frequency_hz", &self.frequency_hz())
                .field("quality", &self.quality())
                .finish_non_exhaustive()
        }
    }

    /// Chooses the counter for this process: [`CounterId::Os`], or the processor's own to probe for
    /// it again. Ticks before and after are not comparable:
    /// [`Clock::restart`](crate::Clock::restart) comes next. Call it before other threads read.
    pub fn counter_select(id: CounterId) -> Result<(), Error> {
        // SAFETY: no conditions; threads that read meanwhile read one counter or the other.
        Error::check(unsafe { sys::timebase_counter_select(id as i32) }).map(drop)
    }
}
