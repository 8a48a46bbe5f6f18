# SPDX-License-Identifier: MIT
"""A program as the kernel would start it: where it is, and what a loader will make of it."""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NOT_FOUND, NOT_EXECUTABLE = 127, 126  # the exit codes of a shell
SCRIPT = b"#!"
SCRIPT_LINE = 256  # as much of it as the kernel reads
SCRIPTS_DEEP = 4
CAPABILITIES = "security.capability"

# Of the ELF specification.
ELF = b"\x7fELF"
CLASSES = {1: 32, 2: 64}
ORDERS = {1: "<", 2: ">"}
INTERPRETER, NOTE = 3, 4  # program headers
GO_NAME = b"Go\0\0"  # in the note with the build's number


class ProgramError(Exception):
    """It cannot be started; `code` is what a shell exits with."""

    def __init__(self, text: str, code: int):
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class Program:
    path: str  # what is started
    image: str  # the file that runs: the interpreter of a script
    bits: int | None = None  # None: it is no ELF file, or of another processor
    loader: str | None = None  # None: it is static
    is_go: bool = False
    gains_rights: bool = False  # set-user-ID and the like: the loader preloads nothing


def find(name: str, environment: Mapping[str, str]) -> Program:
    """As execvp() finds it. ProgramError if there is none, or it is not for us."""
    path = _path_of(name, environment.get("PATH", os.defpath))
    return look(path)


def look(path: str) -> Program:
    image = _image_of(path)
    try:
        with open(image, "rb") as file:
            return _program(path, image, file)
    except OSError:
        return Program(path, image, gains_rights=_gains_rights(image))  # may be run, not read


def _path_of(name: str, folders: str) -> str:
    if "/" in name:
        _require_executable(name)
        return name
    refused = None
    for folder in folders.split(os.pathsep):
        path = os.path.join(folder or ".", name)
        try:
            _require_executable(path)
        except ProgramError as problem:
            refused = problem if problem.code == NOT_EXECUTABLE else refused
        else:
            return path
    raise refused or ProgramError(f"{name}: not found on the PATH", NOT_FOUND)


def _require_executable(path: str) -> None:
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise ProgramError(f"{path}: not found", NOT_FOUND) from None
    except OSError as problem:
        raise ProgramError(f"{path}: {problem.strerror}", NOT_EXECUTABLE) from None
    if os.path.isdir(path):
        raise ProgramError(f"{path}: is a folder", NOT_EXECUTABLE)
    if not os.access(path, os.X_OK):
        raise ProgramError(f"{path}: {os.strerror(errno.EACCES)}", NOT_EXECUTABLE)


def _image_of(path: str) -> str:
    """Follows #! lines."""
    for _ in range(SCRIPTS_DEEP):
        try:
            with open(path, "rb") as file:
                line = file.read(SCRIPT_LINE).split(b"\n")[0]
        except OSError:
            return path
        words = line[len(SCRIPT) :].split() if line.startswith(SCRIPT) else []
        if not words:
            return path
        path = os.fsdecode(words[0])
    return path


def _gains_rights(image: str) -> bool:
    try:
        found = os.stat(image)
    except OSError:
        return False
    has_other_user = found.st_mode & 0o4000 and found.st_uid != os.geteuid()
    has_other_group = found.st_mode & 0o2010 == 0o2010 and found.st_gid != os.getegid()
    return bool(has_other_user or has_other_group) or _has_capabilities(image)


def _has_capabilities(image: str) -> bool:
    try:
        return os.geteuid() != 0 and bool(os.getxattr(image, CAPABILITIES))
    except OSError:
        return False


def _program(path: str, image: str, file) -> Program:
    rights = _gains_rights(image)
    begin = file.read(64)
    order = ORDERS.get(begin[5]) if len(begin) == 64 else None
    bits = CLASSES.get(begin[4]) if order else None
    if not begin.startswith(ELF) or bits is None or not _is_ours(begin, order):
        return Program(path, image, gains_rights=rights)
    try:
        loader, is_go = _headers(file, begin, order, bits)
    except struct.error:
        return Program(path, image, gains_rights=rights)  # cut off: the kernel will say so
    return Program(path, image, bits, loader, is_go, rights)


def _machine(begin: bytes, order: str) -> int:
    return struct.unpack_from(order + "H", begin, 18)[0]


X86 = {3, 62}  # EM_386, EM_X86_64: one runs the other's programs


def _is_ours(begin: bytes, order: str) -> bool:
    """Of this processor, by what this interpreter is."""
    with Path(sys.executable).open("rb") as file:
        own = file.read(64)
    ours = _machine(own, ORDERS.get(own[5], "<"))
    theirs = _machine(begin, order)
    return theirs == ours or {theirs, ours} == X86


def _headers(file, begin: bytes, order: str, bits: int) -> tuple[str | None, bool]:
    """The loader that the program names, and whether Go made it."""
    at, form, sizes_at = (32, "Q", 54) if bits == 64 else (28, "I", 42)
    (offset,) = struct.unpack_from(order + form, begin, at)
    size, count = struct.unpack_from(order + "HH", begin, sizes_at)
    layout = order + ("I4xQ16xQ" if bits == 64 else "II8xI")  # kind, where, how long
    file.seek(offset)
    table = file.read(size * count)
    loader, is_go = None, False
    for number in range(count):
        kind, start, length = struct.unpack_from(layout, table, number * size)
        if kind == INTERPRETER:
            loader = os.fsdecode(_bytes(file, start, length).rstrip(b"\0"))
        elif kind == NOTE:
            is_go = is_go or GO_NAME in _bytes(file, start, min(length, 4096))
    return loader, is_go


def _bytes(file, start: int, length: int) -> bytes:
    file.seek(start)
    return file.read(length)
