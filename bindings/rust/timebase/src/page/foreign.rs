// SPDX-License-Identifier: MIT
//! Pages as bytes: from a file, a core dump, another machine.

use super::{CopyWords, LineWords, Page, ValidityWords, MAGIC, VERSION};
use crate::word::{Half, Word};
use crate::Error;

const MAGIC_AT: usize = 16;
const SIZE_AT: usize = 20;
const VERSION_AT: usize = 24;
/// Takes the words out of the bytes one after the other.
struct Bytes<'a> {
    bytes: &'a [u8],
    is_swapped: bool,
}

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.bytes.split_at(N);
        self.bytes = rest;
        let mut word = [0; N];
        word.copy_from_slice(first);
        if self.is_swapped {
            word.reverse();
        }
        word
    }

    fn word(&mut self) -> Word {
        Word::new(u64::from_ne_bytes(self.take()))
    }

    fn half(&mut self) -> Half {
        Half::new(u32::from_ne_bytes(self.take()))
    }

    fn line(&mut self) -> LineWords {
        LineWords {
            start_ticks: self.word(),
            mono_ns: self.word(),
            utc_ns: self.word(),
            period_frac: self.word(),
            period_ns: self.half(),
            flags: self.half(),
            maxerror_ns: self.word(),
            drift_rate: self.half(),
            slew_rate: self.half(),
            utc_maxerror_ns: self.word(),
        }
    }

    fn validity(&mut self) -> ValidityWords {
        ValidityWords {
            silent_ticks: self.word(),
            void_ticks: self.word(),
            before_esterror_ns: self.word(),
            slew_esterror_ns: self.word(),
            after_esterror_ns: self.word(),
            esterror_rate: self.half(),
            reserved32: self.half(),
            reserved: core::array::from_fn(|_| self.word()),
        }
    }

    fn copy(&mut self) -> CopyWords {
        CopyWords {
            before: self.line(),
            slew: self.line(),
            after: self.line(),
            validity: self.validity(),
        }
    }

    fn page(&mut self) -> Page {
        Page {
            seq: self.word(),
            refresh_ticks: self.word(),
            magic: self.half(),
            size: self.half(),
            version: self.half(),
            counter_id: self.half(),
            disruption_marker: self.word(),
            utc_step_count: self.word(),
            late_count: self.word(),
            incompatible: self.half(),
            reserved32: self.half(),
            vmclock_marker: self.word(),
            reserved: core::array::from_fn(|_| self.word()),
            copy: core::array::from_fn(|_| self.copy()),
        }
    }
}

fn half_at(bytes: &[u8], at: usize) -> Option<u32> {
    let half = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes([half[0], half[1], half[2], half[3]]))
}

/// Is the page in the other byte order? `None`: no page at all.
fn is_swapped(bytes: &[u8]) -> Option<bool> {
    match half_at(bytes, MAGIC_AT)? {
        MAGIC => Some(false),
        magic if magic.swap_bytes() == MAGIC => Some(true),
        _ => None,
    }
}

impl Page {
    /// The version that these bytes say they have; `None` if they are no page of any version.
    pub fn version_of(bytes: &[u8]) -> Option<u32> {
        let is_swapped = is_swapped(bytes)?;
        half_at(bytes, SIZE_AT)?;
        let version = half_at(bytes, VERSION_AT)?;
        Some(if is_swapped { version.swap_bytes() } else { version })
    }

    /// The version that this library reads.
    pub const fn version() -> u32 {
        VERSION
    }

    /// A validated copy of a page of this machine's byte order, to convert ticks by. Nobody may be
    /// writing the bytes meanwhile.
    ///
    /// ```
    /// let error = timebase::Page::from_bytes(b"no page").unwrap_err();
    /// assert_eq!(error, timebase::Error::Format);
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_ordered_bytes(bytes, false)
    }

    /// The same of the other byte order: of another machine.
    pub fn from_bytes_swapped(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_ordered_bytes(bytes, true)
    }

    fn from_ordered_bytes(bytes: &[u8], is_swapped: bool) -> Result<Self, Error> {
        if bytes.len() < Self::SIZE {
            return Err(Error::Format);
        }
        let page = Bytes { bytes, is_swapped }.page();
        page.validate()?;
        Ok(page)
    }

    /// A copy of bytes in this machine's order, whatever they are: for
    /// [`validate`](Self::validate).
    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    pub(crate) fn from_own_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let is_swapped = false;
        Bytes { bytes, is_swapped }.page()
    }
}
