// SPDX-License-Identifier: MIT
//! Another process' page, read and never mapped. A file may be cut short, replaced, or made hostile
//! at any moment; a read then says so, where memory would raise SIGBUS, and what has been copied
//! cannot be changed between the check and the use.

use super::trusted::{error_of, is_kernels, is_safe, walk};
use crate::{Error, Page};
use core::sync::atomic::{fence, Ordering};
use rustix::fd::OwnedFd;
use rustix::fs::{fstat, openat, statat, AtFlags, FileType, Mode, OFlags, Stat};
use std::path::Path;

/// A copy takes a microsecond, and nobody publishes so often.
const COPY_ATTEMPTS: usize = 8;

pub(super) struct PageFile {
    fd: OwnedFd,
    device: u64,
    inode: u64,
    owner: u32,
}

/// Looks at the first bytes before it calls a file too short: a page of version 1 is.
fn check(stat: &Stat, owner: u32) -> Result<(), Error> {
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !is_safe(stat, owner) {
        return Err(Error::Untrusted);
    }
    if (stat.st_size as u64) < Page::SIZE as u64 {
        return Err(Error::Format);
    }
    Ok(())
}

impl PageFile {
    /// Looks at the file before opening it, because opening some devices acts on them; and after,
    /// because by then the name may lead to another file. NONBLOCK: if that is a pipe, nobody
    /// waits for its writer.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let place = walk(path)?;
        let stat = statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW);
        check(&stat.map_err(error_of)?, place.owner)?;
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fd = openat(&place.folder, &place.name, flags, Mode::empty()).map_err(error_of)?;
        let stat = fstat(&fd).map_err(error_of)?;
        check(&stat, place.owner)?;
        if !is_kernels(&fd) {
            return Err(Error::Untrusted);
        }
        Ok(Self { fd, device: stat.st_dev as u64, inode: stat.st_ino as u64, owner: place.owner })
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.device == other.device && self.inode == other.inode
    }

    fn read(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let size = bytes.len();
        loop {
            return match rustix::io::pread(&self.fd, &mut *bytes, 0) {
                Ok(got) if got == size => Ok(()),
                Ok(_) => Err(Error::Format),
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => Err(Error::Permission),
            };
        }
    }

    /// The number of the present publication: one system call.
    pub(super) fn seq(&self) -> Result<u64, Error> {
        let mut seq = [0; 8];
        self.read(&mut seq)?;
        match u64::from_ne_bytes(seq) {
            0 => Err(Error::Stale),
            seq => Ok(seq),
        }
    }

    /// The reader's side of the page's protocol, by system calls. The kernel loads on behalf of
    /// this thread, so the fences that order a reader's loads order these, too.
    fn copy_once(&self) -> Result<Page, Error> {
        let mut bytes = [0; Page::SIZE];
        let seq = self.seq()?;
        fence(Ordering::Acquire); // (A)
        self.read(&mut bytes)?;
        fence(Ordering::Acquire); // (C)
        if self.seq()? != seq {
            return Err(Error::Torn);
        }
        bytes[..8].copy_from_slice(&seq.to_ne_bytes());
        Ok(Page::from_own_bytes(&bytes))
    }

    /// A consistent, valid copy. Looks again at who may write the file, and whether it has been
    /// deleted.
    pub(super) fn copy(&self) -> Result<Page, Error> {
        let stat = fstat(&self.fd).map_err(error_of)?;
        if stat.st_nlink == 0 {
            return Err(Error::NotFound);
        }
        check(&stat, self.owner)?;
        for _ in 0..COPY_ATTEMPTS {
            match self.copy_once() {
                Err(Error::Torn) => {}
                Err(error) => return Err(error),
                Ok(page) => return page.validate().map(|()| page),
            }
        }
        Err(Error::Torn)
    }
}
