# SPDX-License-Identifier: MIT
"""All that `timebase status --json` prints."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

from timebase.api.clock import DEFAULT_PAGE, Instant
from timebase.status.compare import Comparison, compare
from timebase.status.file import Refused
from timebase.status.judge import EXIT_CODES, NS_PER_SEC, Limits, Seen, judge, level_of
from timebase.status.metrics import METRICS_NAME, Metrics, daemon_state, read_metrics
from timebase.status.namespace import read_time_namespace
from timebase.status.page import SharedPage, counter_name, read_page
from timebase.text.utc import iso_utc

# The daemon has published a step of the system clock by then: if the bound is still broken, it is
# a fault.
STEP_SEC = 0.3


def examine(page: Path | None = None, metrics: Path | None = None, limits=Limits()) -> dict:
    """Paths default to the daemon's. Takes some ms; STEP_SEC more if the bound looks broken."""
    page_path = page or Path(DEFAULT_PAGE)
    metrics_path = metrics or page_path.parent / METRICS_NAME
    seen = look(page_path, metrics_path, metrics is not None)
    if seen.comparison is not None and seen.comparison.contradicts_bound:
        time.sleep(STEP_SEC)
        seen = look(page_path, metrics_path, metrics is not None)
    return document(seen, limits, page_path)


def look(page_path: Path, metrics_path: Path, metrics_expected: bool) -> Seen:
    namespace = read_time_namespace()
    page, page_refused = _or_refusal(lambda: read_page(page_path))
    comparison = compare(page.page.convert) if page is not None else None
    own_mono_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    metrics, metrics_refused = _or_refusal(lambda: read_metrics(metrics_path, time.time()))
    return Seen(
        page=page,
        page_refused=page_refused,
        comparison=comparison,
        host_mono_ns=own_mono_ns - (namespace.monotonic_offset_ns if namespace else 0),
        metrics=metrics,
        metrics_refused=metrics_refused,
        metrics_expected=metrics_expected,
        namespace=namespace,
    )


def _or_refusal(read):
    try:
        return read(), None
    except Refused as refused:
        return None, refused


def document(seen: Seen, limits: Limits, page_path: Path) -> dict:
    reasons = judge(seen, limits)
    level = level_of(reasons)
    return {
        "level": level,
        "exit_code": EXIT_CODES[level],
        "reasons": [asdict(reason) for reason in reasons],
        "page_path": str(page_path),
        "page": _page(seen.page, seen.comparison) if seen.page else None,
        "daemon": _daemon(seen.metrics) if seen.metrics else None,
        "references": [asdict(one) for one in seen.metrics.sources] if seen.metrics else [],
        "time_namespace": asdict(seen.namespace) if seen.namespace else None,
        "limits": asdict(limits),
    }


def _page(shared: SharedPage, comparison: Comparison) -> dict:
    header, after = shared.page.header(), shared.page.lines()["after"]
    return {
        **moment(comparison.instant),
        "offset_ns": comparison.offset_ns,
        "bracket_ns": comparison.bracket_ns,
        "age_ns": shared.age_ns(comparison.instant),
        "publications": header["seq"],
        "late_publications": header["late_count"],
        "utc_steps": header["utc_step_count"],
        "disruption_marker": header["disruption_marker"],
        "counter": counter_name(header["counter_id"]),
        "frequency_hz": frequency_hz(after),
        "owner_uid": shared.owner_uid,
        "mode": f"{shared.mode:04o}",
    }


def moment(instant: Instant) -> dict:
    return {
        "status": instant.status.name,
        "utc": iso_utc(instant.utc_ns),
        "utc_ns": instant.utc_ns,
        "mono_ns": instant.mono_ns,
        "ticks": instant.ticks,
        "esterror_ns": instant.esterror_ns,
        "maxerror_ns": instant.maxerror_ns,
        "utc_maxerror_ns": instant.utc_maxerror_ns,
        "is_promise": instant.is_promise,
        "is_never_moved": instant.is_never_moved,
        "is_counter_distrusted": instant.is_counter_distrusted,
        "tai_offset_sec": instant.tai_offset_sec,
        "leap_sec": instant.leap_sec,
    }


def frequency_hz(line: dict) -> float:
    return NS_PER_SEC * 2**64 / ((line["period_ns"] << 64) + line["period_frac"])


def _daemon(metrics: Metrics) -> dict:
    """By the names of the metrics; null where the daemon does not say."""
    names = (
        "slews",
        "suspends",
        "disruptions",
        "utc_steps",
        "publications",
        "late_publications",
    )
    return {
        "metrics_path": str(metrics.path),
        "metrics_age_sec": metrics.age_sec,
        "state": daemon_state(metrics),
        "version": metrics.info.get("version"),
        "started_sec": metrics.value("timebase_start_time_seconds"),
        "offset_ns": metrics.value("timebase_offset_ns"),
        "frequency_error_ppb": metrics.value("timebase_frequency_error_ppb"),
        "timeline_bytes": metrics.value("timebase_timeline_bytes"),
        **{name: metrics.value(f"timebase_{name}_total") for name in names},
    }
