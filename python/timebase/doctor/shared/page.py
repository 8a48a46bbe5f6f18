# SPDX-License-Identifier: MIT
"""Whether there is a daemon's page, who keeps it and whether it may be believed. `timebase status`
says more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from timebase.api.clock import DEFAULT_PAGE
from timebase.doctor.finding import Finding
from timebase.status.compare import compare
from timebase.status.file import Refused
from timebase.status.judge import Limits
from timebase.status.page import read_page


@dataclass(frozen=True)
class Looked:
    """`refusal`: why the page is not taken; then status and all after it are None."""

    path: str
    refusal: str | None = None
    text: str = ""  # of the refusal, and what to do
    advice: str = ""
    status: str | None = None
    age_ns: int | None = None
    offset_ns: int | None = None  # page - CLOCK_REALTIME
    maxerror_ns: int | None = None
    is_within_bound: bool | None = None
    owner_uid: int | None = None

    @property
    def is_there(self) -> bool:
        return self.refusal != "missing"


def look(path: Path | None = None) -> Looked:
    path = path or Path(DEFAULT_PAGE)
    try:
        shared = read_page(path)
    except Refused as refused:
        return Looked(str(path), refused.id, str(refused), refused.advice)
    found = compare(shared.page.convert)
    return Looked(
        str(path),
        status=found.instant.status.name,
        age_ns=shared.age_ns(found.instant),
        offset_ns=found.offset_ns,
        maxerror_ns=found.instant.maxerror_ns,
        is_within_bound=not found.contradicts_bound,
        owner_uid=shared.owner_uid,
    )


def judge(page: Looked) -> Iterator[Finding]:
    if page.refusal == "missing":
        yield Finding(
            "no-daemon",
            "info",
            f"No daemon publishes a page at {page.path}: every process keeps a clock of its own.",
            "Nothing to do, unless processes are to share one: `systemctl start timebased`.",
        )
    elif page.refusal is not None:
        id = "page-untrusted" if page.refusal == "untrusted" else "page-unusable"
        text = f"The shared page is refused: {page.text}"
        yield Finding(id, "warning", text, page.advice)
    else:
        yield _of_a_good_page(page)


def _of_a_good_page(page: Looked) -> Finding:
    age = f"{page.age_ns / 1e9:,.1f} s"
    if page.age_ns > Limits().max_age_ns:
        return Finding(
            "daemon-silent",
            "warning",
            f"The shared page was last renewed {age} ago: its daemon is gone, or stuck.",
            "systemctl status timebased; journalctl -u timebased",
        )
    if not page.is_within_bound:
        return Finding(
            "page-off",
            "warning",
            f"The shared page is {page.offset_ns:,} ns off CLOCK_REALTIME and promises "
            f"{page.maxerror_ns:,} ns.",
            "Right after a step of the system clock this passes; else see `timebase status`.",
        )
    return Finding(
        "shared-page",
        "ok",
        f"A daemon (user {page.owner_uid}) publishes {page.path}: {page.status}, {age} old, "
        f"{page.offset_ns:,} ns off CLOCK_REALTIME.",
    )
