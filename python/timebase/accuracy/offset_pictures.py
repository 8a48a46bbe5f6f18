# SPDX-License-Identifier: MIT
"""What was found of error against target offset, as figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy

from timebase.accuracy.figure import axis, figure, panel, series, words
from timebase.accuracy.summary import quantile
from timebase.accuracy.trials import Method

FIRST_NS = 1500  # the nearest target
UNALIGNED = 29  # the loop's 8 bytes lie across a boundary of 32


@dataclass
class Sweep:
    """Targets one after the other, so many times."""

    method: Method
    ahead_ticks: numpy.ndarray
    beyond_ns: numpy.ndarray  # the first target
    error_ns: list  # of each pass

    def middle(self) -> numpy.ndarray:
        return quantile_of_passes(self.error_ns, 0.5)

    def height(self) -> float:
        """From the 5th to the 95th percentile of all."""
        low, high = quantile(numpy.concatenate(self.error_ns), [0.05, 0.95])
        return float(high - low)


def quantile_of_passes(passes: list, share: float) -> numpy.ndarray:
    return numpy.quantile(numpy.array(passes), share, axis=0, method="inverted_cdf")


def draw(sweeps: dict[str, Sweep], spreads: dict[int, float], in_a_guest: bool) -> list[dict]:
    return [
        _warm(sweeps),
        _cold(sweeps),
        _serialising(sweeps, in_a_guest),
        _alignment(sweeps, spreads),
        _table(sweeps),
    ]


def _sweep_panel(sweep: Sweep, role: str, title: str, limits=None, dash: str = "solid") -> dict:
    """One pass in dots, and the median of all passes."""
    one = sweep.error_ns[len(sweep.error_ns) // 2]
    drawn = [
        series("one pass", role, "dots", sweep.beyond_ns, one),
        series("median of all passes", role, "line", sweep.beyond_ns, sweep.middle(), dash),
    ]
    limits = limits or _limits([sweep])
    return panel(
        axis(f"target beyond {words(FIRST_NS)} from the start, ns"),
        axis("error, ns", limits=limits),
        drawn,
        title,
    )


def _limits(sweeps: list[Sweep]) -> list[float]:
    """Limits that leave out the two largest in a hundred: on one scale with those the rest would
    not be seen."""
    errors = numpy.concatenate([error for sweep in sweeps for error in sweep.error_ns])
    low, high = (float(value) for value in quantile(errors, [0.005, 0.98]))
    margin = 0.15 * (high - low)
    return [low - margin, high + margin]


def _warm(sweeps: dict) -> dict:
    sweep = sweeps["paper"]
    late = words(float(numpy.median(sweep.middle())))
    title = (
        f"The paper's loop is {late} late, in saw-teeth: 90 % of its errors spread over "
        f"{words(sweep.height())}"
    )
    return figure("figure3", "3", title, [_sweep_panel(sweep, "article", "")])


def _cold(sweeps: dict) -> dict:
    cold, warm = sweeps["cold"], sweeps["paper"]
    title = (
        f"With caches walked over, the same errors spread over {words(cold.height())} "
        f"instead of {words(warm.height())}"
    )
    note = (
        "User space cannot switch the cache off, as the paper did: data of twice the second-level "
        "cache and 256 KiB of code are walked over before each trial."
    )
    return figure("figure4", "4", title, [_sweep_panel(cold, "article", "")], note)


def _serialising(sweeps: dict, in_a_guest: bool) -> dict:
    ordered = "lfence" if "lfence" in sweeps else "ordered"
    height, plain = sweeps[ordered].height(), sweeps["paper"].height()
    title = (
        f"A serialising instruction in the loop: errors spread over {words(height)}, "
        f"without it {words(plain)}"
    )
    panels = [_sweep_panel(sweeps[ordered], "article", f"read after {ordered}")]
    note = "In place of RDMSR, which user space may not execute."
    if "cpuid" in sweeps:
        title += f", with CPUID {words(sweeps['cpuid'].height())}"
        panels.append(_sweep_panel(sweeps["cpuid"], "article", "read after CPUID"))
        if in_a_guest:
            note += " CPUID leaves a virtual machine for its hypervisor, hence its microseconds."
    return figure("figure5", "5", title, panels, note)


def _alignment(sweeps: dict, spreads: dict[int, float]) -> dict:
    if "unaligned" not in sweeps:
        return figure(
            "figure6",
            "6",
            "",
            [],
            "Not on this processor: where the loop lies in memory is the compiler's choice.",
        )
    least, most = min(spreads.values()), max(spreads.values())
    title = (
        f"Where the loop starts in its cache line changes the spread from {words(least)} "
        f"to {words(most)}"
    )
    both = [sweeps["paper"], sweeps["unaligned"]]
    limits = _limits(both)
    by_place = series("", "article", "line", list(spreads), list(spreads.values()))
    panels = [
        _sweep_panel(both[0], "article", "aligned to 64 bytes", limits),
        _sweep_panel(both[1], "article", f"starts at byte {UNALIGNED}", limits),
        panel(
            axis("byte of 64 at which the loop starts"),
            axis("p95 − p5, ns", limits=[0, 1.2 * most]),
            [by_place],
            "all places, random targets",
        ),
    ]
    return figure("figure6", "6", title, panels)


def _table(sweeps: dict) -> dict:
    loop, exact = sweeps["paper"], sweeps["exact"]
    title = (
        f"Without the table errors spread over {words(loop.height())}, "
        f"with it over {words(exact.height())}"
    )
    panels = [
        _sweep_panel(loop, "article", "without: the paper's loop"),
        _sweep_panel(exact, "ours", "with: the exact wait", _same_height(loop, exact)),
    ]
    return figure("figure7_8", "7 and 8", title, panels)


def _same_height(loop: Sweep, exact: Sweep) -> list[float]:
    """For the exact wait, the loop's height around its own middle: to be compared by eye."""
    low, high = _limits([loop])
    middle = float(numpy.median(exact.middle()))
    return [middle - (high - low) / 2, middle + (high - low) / 2]
