# SPDX-License-Identifier: MIT
"""The judgement on what was seen: one function per question. Nothing is read here.

docs/guide/operations.md has a paragraph for every id: what it means and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from timebase.api.clock import Status
from timebase.status.compare import Comparison
from timebase.status.file import Refused
from timebase.status.metrics import Metrics, daemon_state
from timebase.status.namespace import TimeNamespace
from timebase.status.page import SharedPage
from timebase.text.duration import show_duration

# Worst first, and the exit codes of `timebase status`, as monitoring plugins have them.
LEVELS = ("critical", "unknown", "warning", "ok")
EXIT_CODES = {"ok": 0, "warning": 1, "critical": 2, "unknown": 3}
NS_PER_SEC = 1_000_000_000
# Share of publications. More of them late means that the daemon's thread is often held up.
LATE_SHARE = 0.001
# Between two machines or two boots CLOCK_MONOTONIC differs by more, on one machine by less.
SAME_BOOT_NS = NS_PER_SEC


@dataclass(frozen=True)
class Limits:
    max_bound_ns: int = 100_000_000
    max_age_ns: int = 5 * NS_PER_SEC


@dataclass(frozen=True)
class Reason:
    level: str
    id: str
    text: str
    advice: str = ""


@dataclass(frozen=True)
class Seen:
    """What there was at one moment. Where something is None, the field beside it says why."""

    page: SharedPage | None
    page_refused: Refused | None
    comparison: Comparison | None
    host_mono_ns: int  # CLOCK_MONOTONIC without the offset of a time namespace
    metrics: Metrics | None
    metrics_refused: Refused | None
    metrics_expected: bool  # somebody named the file
    namespace: TimeNamespace | None


Reasons = Iterator[Reason]


def judge(seen: Seen, limits: Limits) -> list[Reason]:
    """Worst first, else in the order of QUESTIONS."""
    found = [reason for question in QUESTIONS for reason in question(seen, limits)]
    return sorted(found, key=lambda reason: LEVELS.index(reason.level))


def level_of(reasons: list[Reason]) -> str:
    return min((reason.level for reason in reasons), key=LEVELS.index, default="ok")


NO_DAEMON = (
    "Start one (`systemctl start timebased`; docs/guide/operations.md), or name its page (`--page`). "
    "Without one each process keeps a clock of its own: `timebase now`, `timebase watch --private`."
)
REFUSALS = {
    "missing": ("unknown", "no-page"),
    "unreadable": ("unknown", "page-unreadable"),
    "empty": ("unknown", "page-empty"),
    "torn": ("unknown", "page-torn"),
    "counter": ("unknown", "page-of-another-counter"),
    "untrusted": ("critical", "page-untrusted"),
    "format": ("critical", "page-format"),
}


def refusal(refused: Refused) -> Reason:
    """Why there is no page, and what to do."""
    level, id = REFUSALS[refused.id]
    if id == "no-page":
        return Reason(level, id, f"No daemon publishes here: {refused}", NO_DAEMON)
    return Reason(level, id, str(refused), refused.advice)


def is_there_a_page(seen: Seen, _limits: Limits) -> Reasons:
    if seen.page_refused is not None:
        yield refusal(seen.page_refused)


def is_it_of_this_boot(seen: Seen, _limits: Limits) -> Reasons:
    if seen.comparison is None or _is_of_this_boot(seen):
        return
    apart_ns = seen.comparison.instant.mono_ns - seen.host_mono_ns
    yield Reason(
        "critical",
        "page-of-another-boot",
        f"By the page {show_duration(abs(apart_ns))} "
        f"{'more' if apart_ns > 0 else 'less'} have passed since boot than by the kernel: it was "
        "made by another machine, or before a reboot.",
        "Restart timebased; /run must not survive a reboot, nor be shared between machines.",
    )


def _is_of_this_boot(seen: Seen) -> bool:
    """A page of a dead daemon is old, but it is of this boot, and its bound grows with its age."""
    instant = seen.comparison.instant
    apart_ns = abs(instant.mono_ns - seen.host_mono_ns)
    return apart_ns <= max(SAME_BOOT_NS, instant.maxerror_ns)


def is_it_fresh(seen: Seen, limits: Limits) -> Reasons:
    if seen.comparison is None or not _is_of_this_boot(seen):
        return
    age_ns = seen.page.age_ns(seen.comparison.instant)
    if age_ns > limits.max_age_ns:
        yield Reason(
            "critical",
            "page-stale",
            f"The newest lines are {show_duration(age_ns)} old (at most "
            f"{show_duration(limits.max_age_ns)} are allowed): nobody publishes.",
            "Is timebased running? `systemctl status timebased`, `journalctl -u timebased`. Until "
            "then readers go on at the last pace, and their bound grows.",
        )


STATUS_REASONS = {
    Status.UNKNOWN: (
        "unknown",
        "status-unknown",
        "The page says UNKNOWN: no bound holds.",
        "Look at the daemon's log; do not use this clock.",
    ),
    Status.INITIALIZING: (
        "warning",
        "status-initializing",
        "The daemon has not measured the counter's rate well yet: INITIALIZING.",
        "Wait a second; if it stays so, look at the daemon's log.",
    ),
    Status.FREERUNNING: (
        "warning",
        "status-freerunning",
        (
            "No reference says that it follows true UTC: FREERUNNING. The bound against CLOCK_REALTIME "
            "holds; the one against true UTC is an estimate."
        ),
        (
            "Is chrony running and synchronised? `chronyc tracking`, `chronyc sources -v`. In a virtual "
            "machine it may be that nothing would tell of a move: the daemon's log says so then "
            "(docs/guide/sources.md, witnesses)."
        ),
    ),
    Status.UNRELIABLE: (
        "critical",
        "status-unreliable",
        "The counter misbehaved a moment ago: UNRELIABLE.",
        "Expected for a second after suspend or a live migration; otherwise see `timebase doctor`.",
    ),
}


RENEW = "As for page-stale: start timebased again, or find out what holds it up."
# What a page comes to by itself if nobody renews it (spec/page.md).
EXPIRY_REASONS = {
    Status.FREERUNNING: (
        "warning",
        "page-silent",
        (
            "Nobody has renewed the page in time, so it is FREERUNNING by now. The bound against "
            "CLOCK_REALTIME holds, and grows."
        ),
        RENEW,
    ),
    Status.UNKNOWN: (
        "unknown",
        "page-expired",
        "Nobody has renewed the page for so long that it has expired: UNKNOWN, no bound holds.",
        RENEW,
    ),
}


COUNTER_DISTRUSTED = Reason(
    "critical",
    "counter-distrusted",
    "The kernel no longer uses this counter for its own clock: UNRELIABLE for as long as that is so.",
    "The kernel's log says why (`dmesg | grep -i clocksource`); `timebase doctor`. Programs are told "
    "the kernel's time meanwhile.",
)


def what_does_it_say(seen: Seen, _limits: Limits) -> Reasons:
    if seen.comparison is None:
        return
    instant = seen.comparison.instant
    if instant.is_counter_distrusted:
        yield COUNTER_DISTRUSTED
        if instant.status == Status.UNRELIABLE:
            return
    reasons = EXPIRY_REASONS if seen.page.has_expired(instant) else STATUS_REASONS
    if instant.status in reasons:
        yield Reason(*reasons[instant.status])


FAR_SERVERS = "Lost servers or far ones? `chronyc sources -v` shows each with its distance."


def is_the_bound_small_enough(seen: Seen, limits: Limits) -> Reasons:
    if seen.comparison is None:
        return
    bound_ns = seen.comparison.instant.utc_maxerror_ns
    if bound_ns <= limits.max_bound_ns:
        return
    # The bound is the worst of what is seen, but seldom the cause: a person is told the cause first.
    causes = [*is_it_fresh(seen, limits), *what_does_it_say(seen, limits)]
    cause = causes[0] if causes else None
    text = (
        f"True UTC is only known within {show_duration(bound_ns)} (at most "
        f"{show_duration(limits.max_bound_ns)} are allowed)"
    )
    if cause is None:
        yield Reason("critical", "bound-exceeded", f"{text}.", FAR_SERVERS)
    elif cause.level == "critical":  # it stands above
        yield Reason("critical", "bound-exceeded", f"{text}, for the reason above.", cause.advice)
    else:
        yield Reason("critical", "bound-exceeded", f"{text}. The cause: {cause.text}", cause.advice)


def does_it_follow_the_kernel(seen: Seen, _limits: Limits) -> Reasons:
    found = seen.comparison
    if found is None or not _is_of_this_boot(seen) or not found.contradicts_bound:
        return
    yield Reason(
        "critical",
        "bound-broken",
        f"The page is {show_duration(found.offset_ns)} off CLOCK_REALTIME (seen within "
        f"{show_duration(found.bracket_ns)}), and promises "
        f"{show_duration(found.instant.maxerror_ns)}.",
        "The system clock was stepped a moment ago, or CPUs' counters disagree: look again, then "
        "at `timebase doctor`, and report it with `timebase status --json` if it stays.",
    )


def is_the_daemon_talking(seen: Seen, _limits: Limits) -> Reasons:
    metrics, refused = seen.metrics, seen.metrics_refused
    if refused is not None and _is_news(refused, seen):
        yield Reason("warning", "metrics-unusable", str(refused), refused.advice)
    if metrics is None:
        return
    state = daemon_state(metrics)
    if state == "ended":
        yield Reason(
            "warning",
            "daemon-down",
            "The daemon's last word is that it has ended (timebase_up is 0).",
            "systemctl start timebased",
        )
    elif state == "silent":
        yield Reason(
            "warning",
            "metrics-stale",
            f"The metrics are {show_duration(metrics.age_sec * NS_PER_SEC)} old: what is said of "
            "references and counts is of that time.",
            "Is timebased running, and its disk not full?",
        )


def _is_news(refused: Refused, seen: Seen) -> bool:
    """Nobody expects metrics that nobody named; a folder that is not trusted is complained of once."""
    if refused.id == "missing":
        return seen.metrics_expected
    return str(refused) != str(seen.page_refused)


def do_the_sources_agree(seen: Seen, _limits: Limits) -> Reasons:
    for one in seen.metrics.sources if seen.metrics else ():
        if one.is_up is False:
            yield Reason(
                "warning",
                "reference-down",
                f"The reference {one.source} does not answer.",
                "docs/guide/sources.md says what each one needs; see the daemon's log.",
            )
        if one.is_outdated:
            yield Reason(
                "warning",
                "reference-outdated",
                f"The reference {one.source} has not measured UTC since this machine was "
                "disrupted.",
                "Wait for its next poll; for chrony maxpoll says how long that may take.",
            )
        if one.is_falseticker:
            yield Reason(
                "warning",
                "falseticker",
                f"The reference {one.source} contradicts the majority: {_offset_words(one)}.",
                "Take it out of timebased.conf, or mend it. It has no part in the bound meanwhile.",
            )


def _offset_words(one) -> str:
    if one.offset_ns is None or one.error_ns is None:
        return "it does not say by how much"
    return (
        f"it sees CLOCK_REALTIME {show_duration(one.offset_ns)} off UTC, within "
        f"{show_duration(one.error_ns)}"
    )


def does_it_publish_in_time(seen: Seen, _limits: Limits) -> Reasons:
    if seen.page is None:
        return
    header = seen.page.page.header()
    late, publications = header["late_count"], header["seq"]
    if late > LATE_SHARE * publications:
        yield Reason(
            "warning",
            "late-publications",
            f"{late:,} of {publications:,} publications came after their first tick: for that long "
            "two readers may have followed two lines.",
            "The daemon lacks CPU time: look for throttling (cgroup CPU quota, steal), or give it "
            "Nice=-5 in its unit.",
        )


def is_a_leap_second_near(seen: Seen, _limits: Limits) -> Reasons:
    leap_sec = seen.comparison.instant.leap_sec if seen.comparison else 0
    if leap_sec:
        what = "inserted" if leap_sec > 0 else "deleted"
        yield Reason(
            "warning",
            "leap-announced",
            f"A leap second will be {what} at the end of the UTC day.",
            "Compare TAI or monotonic times across it; the UTC bound is a second wide there.",
        )


def who_would_notice_a_move(seen: Seen, _limits: Limits) -> Reasons:
    if seen.comparison is not None and seen.comparison.instant.is_never_moved:
        yield Reason(
            "ok",
            "never-moved",
            "Nothing would tell if this guest were stopped, moved or restored: its administrator has "
            "said that it never is (never_moved = yes).",
            "Have a witness instead (docs/guide/sources.md): reference = vmclock, chrony, phc.",
        )


def which_time_namespace(seen: Seen, _limits: Limits) -> Reasons:
    space = seen.namespace
    if space is not None and space.monotonic_offset_ns:
        yield Reason(
            "ok",
            "time-namespace",
            f"This process is in a time namespace: its CLOCK_MONOTONIC is "
            f"{show_duration(space.monotonic_offset_ns)} off the daemon's. UTC is the same.",
            "Compare UTC or ticks, not monotonic times, with processes outside.",
        )


QUESTIONS = (
    is_there_a_page,
    is_it_of_this_boot,
    is_it_fresh,
    what_does_it_say,
    does_it_follow_the_kernel,
    is_the_bound_small_enough,
    is_the_daemon_talking,
    do_the_sources_agree,
    does_it_publish_in_time,
    is_a_leap_second_near,
    who_would_notice_a_move,
    which_time_namespace,
)
