// SPDX-License-Identifier: MIT
//! Why a page is not followed, in words that say what to do.

use crate::{CounterId, Error, Page};
use std::fmt;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A page cannot be followed: which, why, and what to do.
///
/// ```
/// # #[cfg(not(miri))] {
/// let error = timebase::SharedPage::attach("/run/timebase/no-such-page").unwrap_err();
/// assert_eq!(error.error(), timebase::Error::NotFound);
/// println!("{error}");
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachError {
    path: PathBuf,
    error: Error,
    detail: Option<String>,
}

impl AttachError {
    /// Looks once more at what refused the file, for the words alone.
    pub(crate) fn new(path: &Path, error: Error) -> Self {
        Self { path: path.to_owned(), error, detail: explain(path, error) }
    }

    /// The reason as a kind.
    pub fn error(&self) -> Error {
        self.error
    }

    /// The page's path, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.detail {
            Some(detail) => f.write_str(detail),
            None => fmt::Display::fmt(&self.error, f),
        }
    }
}

impl std::error::Error for AttachError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

fn explain(path: &Path, error: Error) -> Option<String> {
    Some(match error {
        Error::NotFound => "no page is there: is timebased running, and is this its path?".into(),
        Error::Untrusted => return distrust(path),
        Error::Format | Error::Unsupported => return misfit(&head(path)?),
        Error::Stale => return not_of_now(&head(path)?),
        _ => return None,
    })
}

fn distrust(path: &Path) -> Option<String> {
    let kind = std::fs::symlink_metadata(path).ok()?.file_type();
    let what = if kind.is_symlink() {
        "is a link; give the path of the page itself"
    } else if kind.is_dir() || kind.is_fifo() || kind.is_socket() {
        "is no regular file"
    } else if kind.is_char_device() || kind.is_block_device() {
        "is a device"
    } else {
        "could have been written by others than root and this user: let root or this user own the \
         file and its folders, and nobody else write there"
    };
    Some(format!("not trusted, for it {what}"))
}

/// The first bytes of a regular file. Only to explain: nothing of it is believed.
fn head(path: &Path) -> Option<Vec<u8>> {
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(Page::SIZE as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn misfit(bytes: &[u8]) -> Option<String> {
    const COUNTER_AT: usize = 28;
    const INCOMPATIBLE_AT: usize = 56;
    let half = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let own = Page::version();
    let cut_short = || Some(format!("cut short: {} of {} bytes", bytes.len(), Page::SIZE));
    let Some(version) = Page::version_of(bytes) else {
        if bytes.len() < COUNTER_AT {
            return cut_short(); // of what, it does not say any more
        }
        return Some("no timebase page: its magic number is another".into());
    };
    if version != own {
        return Some(format!(
            "a page of version {version}; this program reads version {own}: restart the writer, or \
             upgrade this program"
        ));
    }
    if bytes.len() < Page::SIZE {
        return cut_short();
    }
    if Page::from_bytes(bytes).err() == Some(Error::Format) {
        return Some("lines that cannot be: not written by timebased, or damaged".into());
    }
    if half(INCOMPATIBLE_AT)? != 0 {
        let bits = half(INCOMPATIBLE_AT)?;
        return Some(format!(
            "needs features {bits:#x}, which this program does not know: upgrade it"
        ));
    }
    let counter = half(COUNTER_AT)?;
    let own = crate::counter_id();
    if counter != own as u32 {
        let name = CounterId::from_number(counter).map_or("unknown", CounterId::name);
        return Some(format!(
            "over another counter ({name}, {counter}) than this process reads ({own}): is one of \
             them confined or emulated?"
        ));
    }
    None
}

/// Why nothing in a page that could be followed is of now.
fn not_of_now(bytes: &[u8]) -> Option<String> {
    const COPIES_AT: usize = 128;
    const COPY: usize = 256;
    let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let seq = word(0)?;
    let begin = word(COPIES_AT + (seq & 1) as usize * COPY)?;
    let why = if seq == 0 {
        "no lines yet: its writer has not begun; try again"
    } else if (crate::ticks_ordered().wrapping_sub(begin) as i64) < 0 {
        "its lines have not begun: they are of another boot or machine; restart the writer"
    } else {
        "its time is not the system clock's: it is of another boot, machine or time namespace, or \
         the system clock was just stepped; try again in a second"
    };
    Some(why.into())
}
