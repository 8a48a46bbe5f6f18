# SPDX-License-Identifier: MIT
"""What the kernel knows about its own clock: adjtimex(2), read only."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass

# From the kernel's public header linux/timex.h.
STA_INS, STA_DEL, STA_UNSYNC, STA_NANO = 0x10, 0x20, 0x40, 0x2000
PHASE_MAX_NS = 500_000_000  # the kernel takes no larger one
PPM_SCALE = 1 << 16


class Timex(ctypes.Structure):
    """struct timex"""

    _fields_ = [
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("constant", ctypes.c_long),
        ("precision", ctypes.c_long),
        ("tolerance", ctypes.c_long),
        ("time", ctypes.c_long * 2),
        ("tick", ctypes.c_long),
        ("ppsfreq", ctypes.c_long),
        ("jitter", ctypes.c_long),
        ("shift", ctypes.c_int),
        ("stabil", ctypes.c_long),
        ("jitcnt", ctypes.c_long),
        ("calcnt", ctypes.c_long),
        ("errcnt", ctypes.c_long),
        ("stbcnt", ctypes.c_long),
        ("tai", ctypes.c_int),
        ("reserved", ctypes.c_int * 11),
    ]


@dataclass(frozen=True)
class NtpState:
    """`error` is why adjtimex was refused; then all else is None."""

    synchronized: bool | None = None
    maxerror_us: int | None = None
    esterror_us: int | None = None
    offset_ns: int | None = None
    frequency_ppm: float | None = None
    tai_offset_sec: int | None = None
    leap_sec: int | None = None  # 1: a second will be inserted, -1: deleted
    error: str | None = None


def pending_ns(offset: int, status: int) -> int:
    """The phase still to be corrected. In microseconds a kernel tells a negative one without its
    sign: as a number of 32 bits, divided by 1,000."""
    if status & STA_NANO:
        return offset
    return offset * 1000 if offset * 1000 <= PHASE_MAX_NS else offset * 1000 - 2**32


def read_ntp() -> NtpState:
    timex = Timex()
    adjtimex = ctypes.CDLL(None, use_errno=True).adjtimex
    if adjtimex(ctypes.byref(timex)) < 0:
        return NtpState(error=os.strerror(ctypes.get_errno()))
    status = timex.status
    return NtpState(
        synchronized=not status & STA_UNSYNC,
        maxerror_us=timex.maxerror,
        esterror_us=timex.esterror,
        offset_ns=pending_ns(timex.offset, status),
        frequency_ppm=timex.freq / PPM_SCALE,
        tai_offset_sec=timex.tai,
        leap_sec=(1 if status & STA_INS else 0) - (1 if status & STA_DEL else 0),
    )
