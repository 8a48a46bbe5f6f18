# SPDX-License-Identifier: MIT
"""Whether a shared clock deserves trust: one in order, then one fault at a time."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from shared_pages import GOOD_METRICS, NEW, write_metrics, write_page

from timebase import schemas
from timebase.api.library import lib
from timebase.status.examine import document, look
from timebase.status.file import Refused
from timebase.status.judge import (
    EXIT_CODES,
    EXPIRY_REASONS,
    LEVELS,
    REFUSALS,
    STATUS_REASONS,
    Limits,
    judge,
    level_of,
)
from timebase.status.metrics import parse_metrics
from timebase.status.namespace import TimeNamespace

LIMITS = Limits(max_age_ns=600 * 10**9)  # whoever is held up has not failed
OPERATIONS = Path(__file__).resolve().parents[2] / "docs/guide/operations.md"


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def seen(tmp_path):
    """A function that looks at a folder with this page and these metrics."""

    def make(metrics=GOOD_METRICS, metrics_age_sec=NEW, **page):
        path = write_page(tmp_path, **page)
        write_metrics(tmp_path, metrics, metrics_age_sec)
        return look(path, tmp_path / "metrics.prom", False)

    return make


def found(seen, limits=LIMITS):
    return {reason.id: reason.level for reason in judge(seen, limits)}


def test_nothing_to_complain_of(seen):
    one = seen()
    assert found(one) == {}
    assert level_of(judge(one, LIMITS)) == "ok"


FAULTS = [
    ("status-unknown", "unknown", {"flags": lib.TIMEBASE_STATUS_UNKNOWN}),
    ("status-initializing", "warning", {"flags": lib.TIMEBASE_STATUS_INITIALIZING}),
    ("status-freerunning", "warning", {"flags": lib.TIMEBASE_STATUS_FREERUNNING}),
    ("status-unreliable", "critical", {"flags": lib.TIMEBASE_STATUS_UNRELIABLE}),
    (
        "counter-distrusted",
        "critical",
        {"flags": lib.TIMEBASE_STATUS_UNRELIABLE | lib.TIMEBASE_LINE_COUNTER_DISTRUSTED},
    ),
    ("never-moved", "ok", {"flags": 2 | lib.TIMEBASE_LINE_NEVER_MOVED}),
    ("bound-exceeded", "critical", {"utc_maxerror_ns": 200_000_000}),
    ("late-publications", "warning", {"late": 50}),
    ("leap-announced", "warning", {"flags": 2 | lib.TIMEBASE_LINE_LEAP_INSERT}),
    ("leap-announced", "warning", {"flags": 2 | lib.TIMEBASE_LINE_LEAP_DELETE}),
    ("metrics-stale", "warning", {"metrics_age_sec": 3600}),
    ("metrics-unusable", "warning", {"metrics": "garbage\n"}),
    ("daemon-down", "warning", {"metrics": GOOD_METRICS.replace("timebase_up 1", "timebase_up 0")}),
    (
        "falseticker",
        "warning",
        {"metrics": GOOD_METRICS.replace('ticker{source="chrony"} 0', 'ticker{source="chrony"} 1')},
    ),
    (
        "reference-down",
        "warning",
        {"metrics": GOOD_METRICS.replace('_up{source="chrony"} 1', '_up{source="chrony"} 0')},
    ),
    (
        "reference-outdated",
        "warning",
        {"metrics": GOOD_METRICS.replace('dated{source="chrony"} 0', 'dated{source="chrony"} 1')},
    ),
]


@pytest.mark.parametrize("id, level, about", FAULTS, ids=[fault[0] for fault in FAULTS])
def test_fault_is_found(seen, id, level, about):
    one = seen(**about)
    assert found(one)[id] == level
    assert all(reason.advice for reason in judge(one, LIMITS))


def test_distrust_is_not_said_to_be_over(seen):
    flags = lib.TIMEBASE_STATUS_UNRELIABLE | lib.TIMEBASE_LINE_COUNTER_DISTRUSTED
    assert found(seen(flags=flags)) == {"counter-distrusted": "critical"}


def test_an_old_page_is_found(seen):
    assert found(seen(age_sec=60), Limits())["page-stale"] == "critical"
    assert "page-stale" not in found(seen(age_sec=60))


@pytest.mark.parametrize(
    "void_ticks, id, level",
    [(1 << 62, "page-silent", "warning"), (1, "page-expired", "unknown")],
)
def test_a_page_that_nobody_renews_expires_by_itself(seen, void_ticks, id, level):
    """Whatever it was published as; and what it was published as is not said to be why."""
    expiry = {"silent_ticks": 1, "void_ticks": void_ticks}
    assert found(seen(age_sec=60, validity=expiry)) == {id: level}
    unreliable = seen(age_sec=60, validity=expiry, flags=lib.TIMEBASE_STATUS_UNRELIABLE)
    wanted = {"status-unreliable": "critical"} if level == "warning" else {id: level}
    assert found(unreliable) == wanted


def test_a_page_that_lies_about_its_bound_is_found_out(seen):
    one = seen(maxerror_ns=100)
    offset_ns = one.comparison.instant.maxerror_ns + 101  # the bound has grown until the look
    lying = replace(one.comparison, offset_ns=offset_ns, bracket_ns=100)
    assert found(replace(one, comparison=lying))["bound-broken"] == "critical"
    unsure = replace(one.comparison, offset_ns=offset_ns, bracket_ns=101)
    assert "bound-broken" not in found(replace(one, comparison=unsure))


def test_a_page_of_another_boot_is_told_from_an_old_one(seen):
    one = seen()
    other = replace(one, host_mono_ns=one.host_mono_ns + 10**13)
    assert found(other) == {"page-of-another-boot": "critical"}
    assert "page-of-another-boot" not in found(seen(age_sec=60))


def test_a_time_namespace_is_no_fault(seen):
    one = replace(seen(), namespace=TimeNamespace(False, 10**14, 0))
    assert found(one) == {"time-namespace": "ok"}
    assert level_of(judge(one, LIMITS)) == "ok"


def test_limits_are_the_callers(seen):
    one = seen(age_sec=1)
    assert found(one, Limits(max_age_ns=500_000_000))["page-stale"] == "critical"
    assert found(one, Limits(max_bound_ns=1000))["bound-exceeded"] == "critical"


def test_a_bound_that_is_exceeded_names_its_cause_and_the_cause_has_the_advice(seen):
    freerunning = lib.TIMEBASE_STATUS_FREERUNNING
    first, second = judge(seen(utc_maxerror_ns=200_000_000, flags=freerunning), LIMITS)
    assert (first.id, second.id) == ("bound-exceeded", "status-freerunning")
    assert second.text in first.text
    assert first.advice == second.advice
    (alone,) = judge(seen(utc_maxerror_ns=200_000_000), LIMITS)
    assert "cause" not in alone.text


@pytest.mark.parametrize(
    "about",
    [
        {"flags": lib.TIMEBASE_STATUS_FREERUNNING, "utc_maxerror_ns": 16_000_000_000},
        {"age_sec": 60, "utc_maxerror_ns": 16_000_000_000},
        {"age_sec": 60, "flags": lib.TIMEBASE_STATUS_UNRELIABLE},
        {"utc_maxerror_ns": 200_000_000},
    ],
)
def test_the_screen_says_each_thing_once_and_the_cause_first(timebase_command, tmp_path, about):
    path = write_page(tmp_path, **about)
    wide = {"COLUMNS": "1000"}
    said = timebase_command("status", "--page", str(path), environment=wide).out
    headline, below = said.split("\n", 2)[:2]
    assert headline.startswith("CRITICAL: ") and below.startswith("→ ")
    sentences = [one for one in re.split(r"(?<=[.?:]) +|\n", said) if len(one) > 30]
    assert len(sentences) == len(set(sentences)), said


@pytest.mark.parametrize(
    ("up", "age_sec", "state"),
    [(1, NEW, "up"), (1, 6, "silent"), (0, NEW, "ended"), (0, 60, "ended")],
)
def test_a_daemon_that_was_killed_is_not_said_to_be_up(seen, tmp_path, up, age_sec, state):
    metrics = GOOD_METRICS.replace("timebase_up 1", f"timebase_up {up}")
    one = seen(metrics=metrics, metrics_age_sec=age_sec)
    assert document(one, LIMITS, tmp_path / "page")["daemon"]["state"] == state


def test_an_untrusted_folder_is_complained_of_once(seen, tmp_path):
    seen()
    tmp_path.chmod(0o777)
    again = look(tmp_path / "page", tmp_path / "metrics.prom", False)
    assert found(again) == {"page-untrusted": "critical"}
    assert len(judge(again, LIMITS)) == 1


def test_metrics_that_nobody_named_may_be_missing(tmp_path):
    path = write_page(tmp_path)
    missing = tmp_path / "metrics.prom"
    assert found(look(path, missing, False)) == {}
    assert found(look(path, missing, True)) == {"metrics-unusable": "warning"}


def test_refusals_have_their_levels(seen):
    one = seen()
    for id, (level, reason) in REFUSALS.items():
        refused = replace(one, page=None, comparison=None, page_refused=Refused(id, "no", "do"))
        assert found(refused)[reason] == level


def test_the_worst_comes_first_and_decides(seen):
    one = seen(age_sec=60, flags=lib.TIMEBASE_STATUS_FREERUNNING)
    reasons = judge(one, Limits())
    places = [LEVELS.index(reason.level) for reason in reasons]
    assert places == sorted(places)
    assert level_of(reasons) == "critical"


def test_a_reference_that_only_counts_says_so(seen):
    text = 'timebase_up 1\ntimebase_falseticker{source="chrony"} 1\n'
    one = replace(seen(), metrics=parse_metrics(text, Path("m")))
    reason = next(reason for reason in judge(one, LIMITS) if reason.id == "falseticker")
    assert "does not say" in reason.text


def test_every_reason_has_its_paragraph_in_the_operations_guide():
    known = {fault[0] for fault in FAULTS} | {id for _, id in REFUSALS.values()}
    for reasons in (STATUS_REASONS, EXPIRY_REASONS):
        known |= {reason[1] for reason in reasons.values()}
    known |= {"page-stale", "bound-broken", "page-of-another-boot", "time-namespace"}
    known |= {"counter-distrusted", "never-moved"}
    text = OPERATIONS.read_text(encoding="utf-8")
    assert {id for id in known if f"`{id}`" not in text} == set()


def valid(outcome):
    found = json.loads(outcome.out)
    jsonschema.Draft202012Validator(schemas.load("status")).validate(found)
    assert outcome.code == found["exit_code"] == EXIT_CODES[found["level"]]
    return found


def test_json_of_a_good_page(timebase_command, tmp_path):
    path = write_page(tmp_path)
    write_metrics(tmp_path)
    found = valid(timebase_command("status", "--page", str(path), "--max-age", "5min", "--json"))
    assert found["level"] == "ok"
    assert found["page"]["is_promise"]
    assert [one["source"] for one in found["references"]] == ["chrony", "phc:/dev/ptp0"]


def test_an_estimate_is_no_promise(timebase_command, tmp_path):
    path = write_page(tmp_path, flags=lib.TIMEBASE_STATUS_SYNCHRONIZED | lib.TIMEBASE_LINE_ESTIMATE)
    found = valid(timebase_command("status", "--page", str(path), "--max-age", "5min", "--json"))
    assert (found["page"]["status"], found["page"]["is_promise"]) == ("SYNCHRONIZED", False)
    assert "an estimate" in timebase_command("status", "--page", str(path)).out


def test_the_page_says_who_vouches_and_who_distrusts(timebase_command, tmp_path):
    def page_of(flags):
        path = write_page(tmp_path, flags=flags)
        outcome = timebase_command("status", "--page", str(path), "--max-age", "5min", "--json")
        return valid(outcome)["page"]

    page = page_of(lib.TIMEBASE_STATUS_SYNCHRONIZED)
    assert (page["is_never_moved"], page["is_counter_distrusted"]) == (False, False)
    page = page_of(lib.TIMEBASE_STATUS_SYNCHRONIZED | lib.TIMEBASE_LINE_NEVER_MOVED)
    assert (page["is_never_moved"], page["is_counter_distrusted"]) == (True, False)
    page = page_of(lib.TIMEBASE_STATUS_UNRELIABLE | lib.TIMEBASE_LINE_COUNTER_DISTRUSTED)
    assert (page["is_never_moved"], page["is_counter_distrusted"]) == (False, True)


def test_screen_of_a_good_page_fits_a_person(timebase_command, tmp_path):
    path = write_page(tmp_path)
    write_metrics(tmp_path)
    outcome = timebase_command("status", "--page", str(path), "--max-age", "5min")
    assert outcome.code == 0, outcome.out
    assert outcome.out.startswith("OK: SYNCHRONIZED, true UTC within ")
    for word in ("from CLOCK_REALTIME", "chrony", "leap second", "publications"):
        assert word in outcome.out
    assert len(outcome.out.splitlines()) <= 30


# As monitoring plugins write them: label=value, unit, and limits that may be empty.
NUMBER = re.compile(r"[a-z_]+=(U|-?\d+(\.\d+)?(s|c)?)(;(-?\d+(\.\d+)?)?){0,3}", re.ASCII)


def test_monitoring_gets_one_line_with_performance_data(timebase_command, tmp_path):
    path = write_page(tmp_path)
    write_metrics(tmp_path)
    outcome = timebase_command("status", "--page", str(path), "--max-age", "5min", "--nagios")
    assert outcome.code == 0, outcome.out
    said, bar, numbers = outcome.out.partition(" | ")
    assert said.startswith("OK: SYNCHRONIZED, true UTC within ") and bar
    assert len(outcome.out.splitlines()) == 1 and outcome.out.count("|") == 1
    assert all(NUMBER.fullmatch(number) for number in numbers.split()), numbers
    assert re.search(r"\butc_maxerror=0\.\d+s;;0\.1;0 age=[\d.]+s;;300;0 ", numbers)


def test_monitoring_without_a_page_gets_no_numbers(timebase_command):
    outcome = timebase_command("status", "--page", "page", "--nagios")
    assert outcome.code == 3
    assert outcome.out.startswith("UNKNOWN: No daemon publishes here")
    assert len(outcome.out.splitlines()) == 1 and "|" not in outcome.out


def test_without_a_bound_monitoring_is_told_that_there_is_none(timebase_command, tmp_path):
    path = write_page(tmp_path, flags=lib.TIMEBASE_STATUS_UNRELIABLE)
    outcome = timebase_command("status", "--page", str(path), "--max-age", "5min", "--nagios")
    assert outcome.code == 2 and " utc_maxerror=U;;0.1;0 " in outcome.out


def test_no_daemon_is_unknown_and_says_what_to_do(timebase_command, tmp_path):
    outcome = timebase_command("status", "--page", "page")
    assert outcome.code == 3
    assert outcome.out.startswith("UNKNOWN: No daemon publishes here")
    assert "systemctl start timebased" in outcome.out
    assert valid(timebase_command("status", "--page", "page", "--json"))["page"] is None


def test_a_dead_daemon_is_critical(timebase_command, tmp_path):
    path = write_page(tmp_path, age_sec=60)
    outcome = timebase_command("status", "--page", str(path))
    assert outcome.code == 2
    assert outcome.out.startswith("CRITICAL: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--frobnicate",),
        ("--max-bound", "5"),
        ("--max-bound", "0ms"),
        ("--max-age", "soon"),
        ("page",),
    ],
)
def test_wrong_input_is_unknown_not_critical(timebase_command, arguments):
    outcome = timebase_command("status", *arguments)
    assert outcome.code == 3
    assert outcome.err and not outcome.out
    assert "Traceback" not in outcome.err


def test_a_document_is_valid_with_any_refusal(seen):
    one = seen()
    for id in REFUSALS:
        refused = replace(one, page=None, comparison=None, page_refused=Refused(id, "no", "do"))
        jsonschema.Draft202012Validator(schemas.load("status")).validate(
            document(refused, LIMITS, Path("page"))
        )
