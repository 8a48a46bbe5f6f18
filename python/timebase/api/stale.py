# SPDX-License-Identifier: MIT
"""TIMEBASE_E_STALE stands for several causes. Each has a sentence of its own here."""

from __future__ import annotations

import os

from timebase.api.library import ffi, lib, text_of
from timebase.api.reader import ticks_ordered


def why_page_is_stale(path: str) -> str:
    """Why nothing in the page at `path` is of now. Only explains: the file is read anew. The library has
    seen that it is one that could be followed."""
    page = ffi.new("struct timebase_page *")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return text_of(lib.TIMEBASE_E_STALE)
    try:
        data = os.pread(descriptor, lib.TIMEBASE_PAGE_SIZE, 0)
    finally:
        os.close(descriptor)
    ffi.buffer(page)[: len(data)] = data
    if page.seq == 0:
        return "it has no lines yet: its writer has not begun, try again"
    begin = page.copy[page.seq & 1].before.start_ticks
    if (ticks_ordered() - begin) % 2**64 >= 2**63:
        return "its lines have not begun: they are of another boot or machine, restart its writer"
    return (
        "its time is not the system clock's: it is of another boot, machine or time namespace, or the"
        " system clock was just stepped; try again in a second"
    )


def why_wait_is_stale(status: str, has_reached_deadline: bool) -> str:
    """Why a wait for a bound, or until a time has passed, ended without either."""
    if not has_reached_deadline:
        return "the clock has no time: it has no lines, or they have expired"
    return f"nobody promised a bound of UTC before the time-out: the clock is {status}"
