# SPDX-License-Identifier: MIT
"""Segments of spec/timeline.md, and what their ticks mean, written from the specification."""

import struct
from dataclasses import dataclass

import model

SIZE = 112
SEGMENT, MARK, LINES, LINE = 1, 2, 3, 4
BEGIN, DISRUPTION, END, LOST = 1, 2, 3, 4
LEASE_NS = 20_000_000


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@dataclass(frozen=True)
class Publication:
    ticks: int
    before: model.Line
    slew: model.Line
    after: model.Line

    def at(self, ticks):
        """What readers of a page with these lines were told."""
        return model.convert(model.Page((self.before, self.slew, self.after)), ticks)


def lease_ticks(line):
    return (LEASE_NS << 32) // ((line.period >> 32) + 1)


def line_body(publication, line):
    rest = struct.pack(
        "<QQQQIIQIIQ",
        line.start_ticks & model.U64,
        line.mono_ns,
        line.utc_ns - line.mono_ns & model.U64,
        line.period & model.U64,
        line.period >> 64,
        line.flags,
        line.maxerror_ns,
        line.drift_rate,
        line.slew_rate,
        line.utc_maxerror_ns,
    )
    return struct.pack("<Q", publication.ticks & model.U64) + rest


def lines_body(publication):
    before, slew, after = publication.before, publication.slew, publication.after
    return struct.pack(
        "<QQQQQQiIIIIIIHHQII",
        publication.ticks & model.U64,
        slew.mono_ns,
        slew.utc_ns - slew.mono_ns & model.U64,
        slew.period & model.U64,
        after.period & model.U64,
        slew.utc_maxerror_ns,
        model.signed(slew.start_ticks - publication.ticks),
        after.start_ticks - slew.start_ticks,
        after.mono_ns - slew.mono_ns,
        slew.flags,
        slew.drift_rate,
        slew.slew_rate,
        before.drift_rate,
        slew.period >> 64,
        after.period >> 64,
        before.maxerror_ns,
        slew.maxerror_ns,
        after.maxerror_ns,
    )


class Writer:
    """Segments as bytes, by their file names."""

    def __init__(self, sequence=0):
        self.files = {}
        self.sequence = sequence
        self.run = 0
        self.number = 0
        self.boot, self.counter_id = bytes(16), 1

    def _put(self, kind, part, body):
        head = struct.pack("<BBHII", kind, part, 0, self.sequence & model.U32, self.run)
        data = (head + body).ljust(SIZE - 4, b"\0")
        name = f"{self.number:08}.tbl"
        self.files[name] = self.files.get(name, b"") + struct.pack("<I", crc32c(data)) + data
        self.sequence += 1

    def segment(self):
        self.number += 1
        body = b"TBTIMELN" + struct.pack("<II", 1, SIZE) + self.boot
        self._put(SEGMENT, 0, body + struct.pack("<II", self.counter_id, self.number))

    def mark(self, reason, held_ticks=0):
        self.run = self.sequence & model.U32
        body = self.boot + struct.pack("<IIQ", self.counter_id, 0, held_ticks & model.U64)
        self._put(MARK, reason, body)

    def three(self, publication):
        lines = (publication.before, publication.slew, publication.after)
        for part, line in enumerate(lines):
            self._put(LINE, part, line_body(publication, line))

    def one(self, publication, part=2):
        self._put(LINES, part, lines_body(publication))

    def tear(self, size):
        """Half a record at the end of the segment."""
        name = f"{self.number:08}.tbl"
        self.files[name] += bytes(range(1, size + 1))
