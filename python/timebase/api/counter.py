# SPDX-License-Identifier: MIT
"""The processor's counter, and its properties. See include/timebase/counter.h."""

from __future__ import annotations

from dataclasses import dataclass

from timebase.api.library import check, ffi, lib
from timebase.api.reader import ticks, ticks_ordered

__all__ = ["Counter", "probe", "ticks", "ticks_ordered"]


@dataclass(frozen=True)
class Counter:
    """What a probe found. Frequencies in Hz, costs in ns; None stands for "unknown"."""

    name: str
    counter_class: str
    frequency_hz: int
    frequency_error_hz: int
    frequency_source: str
    claimed_hz: int | None  # by the source below, even if it is not believed
    claimed_source: str | None
    granularity_ticks: int
    smallest_step_ticks: int
    cost_ns: float
    cost_ordered_ns: float
    quality: int  # 0 unusable ... 100 nothing to complain of
    reasons: tuple[str, ...]  # in words, worst first
    reason_names: tuple[str, ...]  # KERNEL_DISTRUSTS and so on, worst first
    constant: bool | None
    non_stop: bool | None
    hypervisor: bool | None
    hypervisor_name: str | None
    cpus: int | None
    kernel_clocksource: str | None
    kernel_available: tuple[str, ...]


def _text(value) -> str:
    return ffi.string(value).decode("utf-8", "replace")


def _known(value: int) -> bool | None:
    return None if value < 0 else bool(value)


def _reasons(found) -> tuple[str, ...]:
    texts, number = [], 0
    while (text := lib.timebase_counter_reason(found, number)) != ffi.NULL:
        texts.append(_text(text))
        number += 1
    return tuple(texts)


def _reason_names(bits: int) -> tuple[str, ...]:
    """The bits that are set, by the names of the C header without their prefix."""
    named = ffi.typeof("enum timebase_counter_reason_bit").relements
    worst_first = sorted(named.items(), key=lambda item: item[1])
    return tuple(name[len("TIMEBASE_REASON_") :] for name, bit in worst_first if bits & bit)


def probe() -> Counter:
    """Look at the counter: some 5 ms, most of it measuring the frequency. Reads files."""
    found = ffi.new("struct timebase_counter *")
    check(lib.timebase_counter_probe(found))
    claimed = found.claimed_hz != 0
    return Counter(
        name=_text(lib.timebase_counter_name(found.id)),
        counter_class=_text(lib.timebase_counter_class_name(found.counter_class)),
        frequency_hz=found.frequency_hz,
        frequency_error_hz=found.frequency_error_hz,
        frequency_source=_text(lib.timebase_frequency_source_name(found.frequency_source)),
        claimed_hz=found.claimed_hz if claimed else None,
        claimed_source=(
            _text(lib.timebase_frequency_source_name(found.claimed_source)) if claimed else None
        ),
        granularity_ticks=found.granularity_ticks,
        smallest_step_ticks=found.smallest_step_ticks,
        cost_ns=found.cost_ps / 1000,
        cost_ordered_ns=found.cost_ordered_ps / 1000,
        quality=found.quality,
        reasons=_reasons(found),
        reason_names=_reason_names(found.reasons),
        constant=_known(found.constant),
        non_stop=_known(found.non_stop),
        hypervisor=_known(found.hypervisor),
        hypervisor_name=_text(found.hypervisor_name) or None,
        cpus=found.cpus or None,
        kernel_clocksource=_text(found.kernel_clocksource) or None,
        kernel_available=tuple(_text(found.kernel_available).split()),
    )
