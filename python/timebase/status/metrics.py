# SPDX-License-Identifier: MIT
"""What the daemon says about itself: its metrics file, in Prometheus' text format."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path

from timebase.api.errors import MissingModulesError
from timebase.status.file import Refused, open_trusted

METRICS_NAME = "metrics.prom"  # beside the page
SILENT_SEC = 5  # the daemon writes them every second or so
MOST_BYTES = 1 << 20

# Every metric there is, and its labels. examples/prometheus may use no others.
METRICS = {
    "timebase_up": (),
    "timebase_info": ("version", "page", "reference"),
    "timebase_status": (),
    "timebase_offset_ns": (),
    "timebase_reference_offset_ns": ("source",),
    "timebase_reference_error_ns": ("source",),
    "timebase_reference_up": ("source",),
    "timebase_reference_outdated": ("source",),
    "timebase_falseticker": ("source",),
    "timebase_maxerror_ns": (),
    "timebase_utc_maxerror_ns": (),
    "timebase_utc_estimate": (),
    "timebase_never_moved": (),
    "timebase_counter_distrusted": (),
    "timebase_corrected_cpus": (),
    "timebase_publications_total": (),
    "timebase_late_publications_total": (),
    "timebase_utc_steps_total": (),
    "timebase_slews_total": (),
    "timebase_contradictions_total": (),
    "timebase_suspends_total": (),
    "timebase_disruptions_total": (),
    "timebase_stalls_total": (),
    "timebase_clocksource_changes_total": (),
    "timebase_reference_failures_total": (),
    "timebase_store_failures_total": (),
    "timebase_page_repairs_total": (),
    "timebase_timeline_failures_total": (),
    "timebase_page_age_seconds": (),
    "timebase_frequency_hz": (),
    "timebase_frequency_error_ppb": (),
    "timebase_leap": (),
    "timebase_tai_offset_seconds": (),
    "timebase_timeline_bytes": (),
    "timebase_start_time_seconds": (),
}


@dataclass(frozen=True)
class Source:
    """A source of UTC, by its name in the configuration. `offset_ns` is CLOCK_REALTIME - UTC as it
    sees it. None: not said."""

    source: str
    offset_ns: float | None = None
    error_ns: float | None = None
    is_up: bool | None = None
    is_outdated: bool | None = None
    is_falseticker: bool | None = None


@dataclass(frozen=True)
class Metrics:
    path: Path
    age_sec: float  # since the file was written
    values: dict = field(default_factory=dict)  # of those without labels, by name
    info: dict = field(default_factory=dict)  # the labels of timebase_info
    sources: tuple = ()

    def value(self, name: str) -> float | None:
        return self.values.get(name)


def daemon_state(metrics: Metrics) -> str:
    """up, ended (its last word), or silent: a daemon that was killed has no last word."""
    if metrics.value("timebase_up") != 1:
        return "ended"
    return "up" if metrics.age_sec <= SILENT_SEC else "silent"


def read_metrics(path: Path, now_sec: float) -> Metrics:
    """`now_sec`: CLOCK_REALTIME. Refused says why not, and what to do."""
    opened = open_trusted(path)
    try:
        data = os.pread(opened.descriptor, MOST_BYTES + 1, 0)
    finally:
        os.close(opened.descriptor)
    if len(data) > MOST_BYTES:
        raise _not_metrics(f"{path} is larger than {MOST_BYTES:,} bytes.")
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise _not_metrics(f"{path}:{line}: not UTF-8.") from None
    return parse_metrics(text, path, max(0.0, now_sec - opened.modified_sec))


def parse_metrics(text: str, path: Path, age_sec: float = 0.0) -> Metrics:
    samples = list(_samples(text, path))
    values = {s.name: s.value for s in samples if s.name in METRICS and not METRICS[s.name]}
    if "timebase_up" not in values:
        raise _not_metrics(f"{path} has no metric timebase_up: it is not of a timebased.")
    labels = next((s.labels for s in samples if s.name == "timebase_info"), {})
    info = {name: printable(value) for name, value in labels.items()}
    return Metrics(path, age_sec, values, info, _sources(samples))


def _not_metrics(text: str) -> Refused:
    return Refused("format", text, "Name the file that `metrics` in timebased.conf names.")


def _samples(text: str, path: Path):
    """Those with numbers; NaN is how a metric says that it does not know."""
    try:
        from prometheus_client.parser import text_string_to_metric_families as families
    except ImportError:
        raise MissingModulesError("The daemon's metrics", ["prometheus_client"]) from None
    try:
        found = [sample for family in families(text) for sample in family.samples]
    except Exception:  # noqa: BLE001 (the parser promises no kind of exception)
        raise _not_metrics(f"{_first_bad_line(text, path, families)}.") from None
    return (sample for sample in found if math.isfinite(sample.value))


def _first_bad_line(text: str, path: Path, families) -> str:
    for number, line in enumerate(text.splitlines(), 1):
        try:
            list(families(line + "\n"))
        except Exception as problem:  # noqa: BLE001
            said = printable(str(problem))  # it quotes the line
            return f"{path}:{number}: {said or 'not in Prometheus text format'}"
    return f"{path}: not in Prometheus' text format"


def printable(text: str) -> str:
    """The text without control characters: a terminal would obey escape sequences and line ends."""
    return "".join(c if c.isprintable() else "?" for c in text)


LABELLED = {
    "timebase_reference_offset_ns": "offset_ns",
    "timebase_reference_error_ns": "error_ns",
    "timebase_reference_up": "is_up",
    "timebase_reference_outdated": "is_outdated",
    "timebase_falseticker": "is_falseticker",
}


def _sources(samples) -> tuple:
    found: dict[str, dict] = {}
    for sample in samples:
        key = LABELLED.get(sample.name)
        if key is not None and "source" in sample.labels:
            is_flag = key.startswith("is_")
            value = bool(sample.value) if is_flag else sample.value
            found.setdefault(printable(sample.labels["source"]), {})[key] = value
    return tuple(Source(source, **known) for source, known in found.items())
