# SPDX-License-Identifier: MIT
"""What waits tell: names and records of include/timebase/wait.h for wait.py."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from timebase.api.clock import enum_of
from timebase.api.library import ffi, lib


def flags_of(name: str, c_enum: str, prefix: str) -> type[IntFlag]:
    members = sorted(ffi.typeof(f"enum {c_enum}").relements.items(), key=lambda item: item[1])
    return IntFlag(name, {key[len(prefix) :]: value for key, value in members})


WaitFlag = flags_of("WaitFlag", "timebase_wait_flag", "TIMEBASE_WAIT_")
Disturbance = flags_of("Disturbance", "timebase_wait_disturbance", "TIMEBASE_DISTURBED_")
Mechanism = enum_of("Mechanism", "timebase_wait_mechanism", "TIMEBASE_MECHANISM_")


@dataclass(frozen=True)
class WaitResult:
    """What happened. Negative errors are early; +/- `error_bound_ns` is what the counter leaves
    open. `late`: there was no time for the last approach, the event took place at once."""

    target_ticks: int
    event_ticks: int
    error_ticks: int
    error_ns: float
    error_bound_ns: float
    wake_ns: int
    margin_ns: int
    mechanism: Mechanism
    late: bool
    disturbance: Disturbance
    prepared: bool


@dataclass(frozen=True)
class WaiterDescription:
    """What a waiter has learnt of its machine; times in ns, see the header."""

    mechanism: Mechanism
    readings: int
    power_hint: bool
    cpu: int | None
    evidence: Disturbance
    calibrations: int
    calibration_ns: float
    instruction_ns: float
    quantum_ns: float
    sample_ns: float
    exact_spread_ns: float
    plain_spread_ns: float
    plain_bias_ns: float
    least_ns: float
    margin_ns: float
    waits: int
    late: int
    disturbed: int


@dataclass(frozen=True)
class FineReading:
    """A reading finer than the counter's steps: ticks since the base, +/- bound."""

    ticks: float
    bound_ticks: float
    last_ticks: float  # when its last reading was: laps begin here
    even: bool  # False: the readings were not evenly spaced, the bound is a whole step


def _member(name: str, value):
    """A member of a C structure as the dataclasses above have it."""
    if name == "mechanism":
        return Mechanism(value)
    if name in ("disturbance", "evidence"):
        return Disturbance(value)
    if name == "cpu":
        return None if value < 0 else value
    return value


def record_from_c(kind, out, truths: tuple[str, ...]):
    """The dataclass `kind` filled from a C structure of the same names."""
    values = {name: _member(name, getattr(out, name)) for name in kind.__dataclass_fields__}
    values.update({name: bool(values[name]) for name in truths})
    return kind(**values)


def rehearsing() -> bool:
    """True in a function that WaitFlag.REHEARSE calls beforehand: touch everything, do nothing."""
    return bool(lib.timebase_wait_rehearsing())


def mechanism_text(mechanism: int) -> str:
    """A mechanism in words: "return into a run of instructions"."""
    return ffi.string(lib.timebase_wait_mechanism_name(mechanism)).decode()


def disturbance_texts(disturbance: int) -> list[str]:
    """The evidence in words: ["interrupt"]."""
    names = (lib.timebase_wait_disturbance_name(bit) for bit in Disturbance if bit & disturbance)
    return [ffi.string(name).decode() for name in names]
