// SPDX-License-Identifier: MIT
//! Who could have put a file where it is. A path is walked folder by folder, each held open while
//! the next is looked up, so that what has been checked is what is used. The rules are those of
//! `docs/threat-model.md`, as the C library has them.

use crate::Error;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{fstat, fstatfs, openat, Mode, OFlags, Stat, CWD};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// The folder that root or this user may have given to the daemon's user: its owner is trusted.
const SERVICE_FOLDER: &str = "/run/timebase";

const ROOT: u32 = 0;
const OTHERS_MAY_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;
const FUSE: u32 = 0x6573_5546;

pub(super) fn error_of(errno: Errno) -> Error {
    match errno {
        Errno::NOENT => Error::NotFound,
        // A link, where NOFOLLOW forbids one; or no folder, where there should be one.
        Errno::LOOP | Errno::NOTDIR => Error::Untrusted,
        Errno::NAMETOOLONG => Error::Invalid,
        _ => Error::Permission,
    }
}

fn is_owner(stat: &Stat, owner: u32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    [ROOT, owner, own].contains(&stat.st_uid)
}

/// Does this belong to root, this user or `owner`, and may nobody else write it?
pub(super) fn is_safe(stat: &Stat, owner: u32) -> bool {
    is_owner(stat, owner) && stat.st_mode & OTHERS_MAY_WRITE == 0
}

/// A file system in user space shows any owner, and answers when it likes.
pub(super) fn is_kernels(fd: impl AsFd) -> bool {
    fstatfs(fd).is_ok_and(|system| system.f_type as u32 != FUSE)
}

/// Is what lies in this folder there by the will of its owner? In a sticky one others cannot
/// remove or rename what is ours, and what is theirs is recognised by its owner.
fn check_folder(stat: &Stat, owner: u32) -> Result<(), Error> {
    let mode = stat.st_mode;
    let is_safe = is_owner(stat, owner) && (mode & STICKY != 0 || mode & OTHERS_MAY_WRITE == 0);
    is_safe.then_some(()).ok_or(Error::Untrusted)
}

/// An open folder, the file's name in it, and who beside root and this user may own the file.
pub(super) struct Place {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
    pub(super) owner: u32,
}

/// Walks an absolute path without `..` up to its last folder; none may be a link.
pub(super) fn walk(path: &Path) -> Result<Place, Error> {
    let name = path.file_name().ok_or(Error::Invalid)?.to_owned();
    if !path.is_absolute() || path.as_os_str().as_bytes().ends_with(b"/") {
        return Err(Error::Invalid);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = openat(CWD, "/", flags, Mode::empty()).map_err(error_of)?;
    let mut stat = fstat(&folder).map_err(error_of)?;
    let mut so_far = Path::new("/").to_owned();
    let mut owner = ROOT;
    check_folder(&stat, ROOT)?;
    for component in path.parent().ok_or(Error::Invalid)?.components() {
        let step = match component {
            Component::RootDir | Component::CurDir => continue,
            Component::ParentDir => OsStr::new(".."),
            Component::Normal(step) => step,
            Component::Prefix(_) => return Err(Error::Invalid),
        };
        so_far.push(step);
        let is_service = so_far == Path::new(SERVICE_FOLDER) && is_safe(&stat, ROOT);
        folder =
            openat(&folder, step, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(error_of)?;
        stat = fstat(&folder).map_err(error_of)?;
        if !is_kernels(&folder) {
            return Err(Error::Untrusted);
        }
        if is_service && stat.st_mode & OTHERS_MAY_WRITE == 0 {
            owner = stat.st_uid;
        }
        check_folder(&stat, if is_service { owner } else { ROOT })?;
    }
    Ok(Place { folder, name, owner })
}
