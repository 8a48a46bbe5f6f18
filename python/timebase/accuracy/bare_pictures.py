# SPDX-License-Identifier: MIT
"""A log of the bare machine as figures, the paper's numbers on them. What an emulator cannot show
has a figure without panels, which says so."""

from __future__ import annotations

import numpy

from timebase.accuracy.figure import LEAST_NS, axis, figure, panel, series, words
from timebase.accuracy.serial_log import of_kind
from timebase.accuracy.summary import quantile

NOT_SHOWN = "Not shown: an emulated machine has neither caches nor latencies of its own."
EMULATED = "Of an emulated machine: the pattern is the code's, the times are the emulator's."
NOT_MEASURED = "Not in this log."
UNALIGNED = 29  # the offset of the loop that lies across two lines
# The paper's figure, what is in the background, and the caches.
DISPATCHES = {
    "9": ("cpuid", "on"),
    "10": ("nop", "on"),
    "11": ("cpuid", "off"),
    "12": ("nop", "off"),
}
BACKGROUNDS = ("nop", "cpuid", "memory", "ports", "pause", "halt")
PLACES = (
    ("largest", "highs_ticks", "dotted"),
    ("median", "medians_ticks", "solid"),
    ("smallest", "lows_ticks", "dashed"),
)
MOST_PLACES = 0.95  # of three errors for each: at one in eight the largest may be an interruption
ROLES = {"periodic": "article", "one_shot": "kernel", "deadline": "ours"}
WAYS = {"loop": "article", "exact": "kernel", "from_interrupt": "ours"}


def draw(lines, cases, tsc_hz, is_emulated, user_space: list[dict]) -> list[dict]:
    made = _Maker(lines, cases, tsc_hz, is_emulated, {one["id"]: one for one in user_space})
    return [
        made.loop("3", "on"),
        made.loop("4", "off"),
        made.readings(),
        made.places(),
        made.table(),
        *(made.interrupts(number, *what) for number, what in DISPATCHES.items()),
        made.backgrounds(),
        made.waits(),
    ]


class _Maker:
    def __init__(self, lines, cases, tsc_hz, is_emulated, user_space):
        self.lines, self.cases, self.tsc_hz = lines, cases, tsc_hz
        self.is_emulated, self.user_space = is_emulated, user_space

    def errors(self, kind: str, **wanted) -> numpy.ndarray:
        """In ns; empty if there are none, or an emulator's that show nothing."""
        for _, line, errors in self.cases:
            is_it = all(line.get(name) == value for name, value in wanted.items())
            if line["kind"] == kind and is_it and line["shown"]:
                return errors
        return numpy.empty(0)

    def panel(self, errors, role: str, title: str, across: str, limits=None) -> dict:
        dots = series("", role, "dots", range(len(errors)), errors)
        limits = limits or _limits(errors)
        return panel(axis(across), axis("error, ns", limits=limits), [dots], title)

    def figure(self, id: str, paper: str | None, title: str, panels: list[dict]) -> dict:
        """With the panels that a run in user space has under this number, below."""
        if not any(one["series"] for one in panels):
            note = NOT_SHOWN if self.is_emulated else NOT_MEASURED
            return figure(f"bare_{id}", paper, "", [], note)
        for one in self.user_space.get(id, {}).get("panels", []):
            panels = [*panels, {**one, "title": f"in user space: {one['title']}".rstrip(": ")}]
        return figure(f"bare_{id}", paper, title, panels, EMULATED if self.is_emulated else "")

    def loop(self, number: str, cache: str) -> dict:
        errors = self.errors("loop", reading="rdtsc", offset_bytes=0, cache=cache)
        title = f"Caches {cache}: errors of the paper's loop spread over {_spread(errors)}"
        drawn = [self.panel(errors, "article", "on the bare machine", "target, ticks further")]
        return self.figure(f"figure{number}", number, title, drawn)

    def readings(self) -> dict:
        found = {
            name: self.errors("loop", reading=name, offset_bytes=0, cache="on")
            for name in ("rdmsr", "lfence", "rdtscp", "cpuid")
        }
        panels = [
            self.panel(errors, "article", f"by {name.upper()}", "target, ticks further")
            for name, errors in found.items()
            if len(errors)
        ]
        said = [
            f"{name.upper()} {_spread(errors)}" for name, errors in found.items() if len(errors)
        ]
        title = f"The spread of the errors by each way to read: {', '.join(said)}"
        return self.figure("figure5", "5", title, panels)

    def places(self) -> dict:
        aligned, unaligned = (
            self.errors("loop", reading="rdtsc", offset_bytes=place, cache="on")
            for place in (0, UNALIGNED)
        )
        panels = [
            self.panel(aligned, "article", "aligned to 64 bytes", "target, ticks further"),
            self.panel(
                unaligned, "article", f"starts at byte {UNALIGNED}", "target, ticks further"
            ),
            self._by_place("alignments", "all places"),
        ]
        title = f"Aligned the errors spread over {_spread(aligned)}, else {_spread(unaligned)}"
        return self.figure("figure6", "6", title, panels)

    def _by_place(self, kind: str, title: str, **wanted) -> dict:
        drawn, all_ns = [], []
        for line in of_kind(self.lines, kind, cache="on", shown=True, **wanted):
            for label, name, dash in PLACES:
                errors_ns = self._ns(line[name])
                drawn.append(series(label, "article", "line", range(64), errors_ns, dash))
                all_ns += errors_ns
        limits = _limits(numpy.array(all_ns), MOST_PLACES)
        across, up = axis("byte of 64 at which the loop starts"), axis("error, ns", limits=limits)
        return panel(across, up, drawn, title)

    def _ns(self, ticks: list[int]) -> list[float]:
        return [value * 1e9 / self.tsc_hz for value in ticks]

    def table(self) -> dict:
        without, with_it = (self.errors("table", table=has, cache="on") for has in (False, True))
        panels = [
            self.panel(without, "article", "without the table", "target, ticks further"),
            self.panel(
                *(with_it, "ours", "with the table", "target, ticks further"),
                limits=_same_height(without, with_it),
            ),
            self._by_place("table_places", "all places, a table for byte 0", learnt="once"),
            self._by_place("table_places", "all places, a table for each", learnt="each"),
        ]
        title = (
            f"Without the table errors spread over {_spread(without)}, with it over "
            f"{_spread(with_it)}"
        )
        return self.figure("figure7_8", "7 and 8", title, panels)

    def interrupts(self, number: str, background: str, cache: str) -> dict:
        found = {
            every: self.errors(
                "dispatch", mode="periodic", interval_us=every, background=background, cache=cache
            )
            for every in (100, 15)
        }
        panels = [
            self.panel(errors, "article", f"every {every} µs", "interrupt, number")
            for every, errors in found.items()
        ]
        title = (
            f"Caches {cache}, {background.upper()} in the background: the APIC's interrupts every "
            f"100 µs are {_spread(found[100])} apart from their distance"
        )
        return self.figure(f"figure{number}", number, title, panels)

    def backgrounds(self) -> dict:
        panels = []
        for every in (100, 15):
            drawn = []
            for shift, (mode, role) in enumerate(ROLES.items()):
                found = [
                    self.errors(
                        "dispatch", mode=mode, interval_us=every, background=name, cache="on"
                    )
                    for name in BACKGROUNDS
                ]
                places = [place for place, errors in enumerate(found) if len(errors)]
                ends = [quantile(found[place], [0.05, 0.5, 0.95]) for place in places]
                drawn.append(
                    series(
                        mode.replace("_", " "),
                        role,
                        "range",
                        [place + 0.2 * (shift - 1) for place in places],
                        [middle for _, middle, _ in ends],
                        low=[low for low, _, _ in ends],
                        high=[high for _, _, high in ends],
                    )
                )
            across = axis("", names=BACKGROUNDS)
            panels.append(
                panel(axis("error, ns: p5, median, p95"), across, drawn, f"every {every} µs")
            )
        title = "When the APIC's interrupt begins, by what it interrupts"
        return self.figure("loads", None, title, panels)

    def waits(self) -> dict:
        drawn, said = [], []
        for way, role in WAYS.items():
            errors = numpy.sort(numpy.abs(self.errors("wait", way=way)))
            if len(errors) == 0:
                continue
            errors = numpy.maximum(errors, LEAST_NS)
            shares = 1 - numpy.arange(len(errors)) / len(errors)
            drawn.append(series(way.replace("_", " "), role, "line", errors, shares))
            said.append(f"{way.replace('_', ' ')} {words(float(quantile(errors, 0.9)))}")
        title = f"90 % of waits begin within: {', '.join(said)}"
        shown = panel(axis("|error|, ns", "log"), axis("share as far off or more", "log"), drawn)
        return self.figure("waits", None, title, [shown])


def _limits(errors: numpy.ndarray, most: float = 0.98) -> list[float] | None:
    """One interruption would press all others onto a line: only that share is in the picture."""
    if len(errors) == 0:
        return None
    low, high = (float(value) for value in quantile(errors, [0.005, most]))
    margin = max(0.15 * (high - low), 1.0)
    return [low - margin, high + margin]


def _same_height(one: numpy.ndarray, other: numpy.ndarray) -> list[float] | None:
    """For the other, the first one's height around its own middle: to be compared by eye."""
    if len(one) == 0 or len(other) == 0:
        return None
    low, high = _limits(one)
    middle = float(quantile(other, 0.5))
    return [middle - (high - low) / 2, middle + (high - low) / 2]


def _spread(errors: numpy.ndarray) -> str:
    """From the 5th to the 95th percentile."""
    if len(errors) == 0:
        return "an unknown time"
    low, high = quantile(errors, [0.05, 0.95])
    return words(float(high - low))
