# SPDX-License-Identifier: MIT
"""`timebase cpus`: its JSON and tables here, and what it concludes from machines of any kind."""

import ctypes
import dataclasses
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import jsonschema
import pytest

from timebase import schemas
from timebase.api.counter import probe
from timebase.api.cpus import Cpu, open_cpus
from timebase.cli.cpus import PICTURE_CELLS, picture, state
from timebase.doctor import cpus as doctor_cpus
from timebase.doctor.cpus import can_they_be_corrected, judge
from timebase.doctor.kernel import CLOCKSOURCE_WORDS

AGREE, DISAGREE, FAILED, WRONG_INPUT = 0, 1, 1, 2
AT_RSEQ_FEATURE_SIZE = 27  # since Linux 6.3
QUICKLY = ("cpus", "--times", "2", "--interval", "10ms")


@pytest.fixture(scope="module")
def counter():
    """This machine's, on a kernel that trusts it."""
    return dataclasses.replace(probe(), reason_names=(), kernel_clocksource="tsc")


def cpu(number, offset=0, error=300, drift=0, drift_error=1000, **more):
    against = None if more.get("state", "measured") != "measured" else 0
    fields = {"state": "measured", "against": against, "jumps": 0, "measured_ns": 1, **more}
    if fields["state"] != "measured":
        offset = error = drift = drift_error = fields["measured_ns"] = None
    return Cpu(
        cpu=number,
        offset_ticks=offset,
        error_ticks=error,
        drift_ppb=drift,
        drift_error_ppb=drift_error,
        **fields,
    )


def reference():
    return cpu(0, 0, 0, None, None)


def ids(findings):
    return [(finding.id, finding.severity) for finding in findings]


# ---- here ----------------------------------------------------------------------------------------


def test_json(timebase_command):
    outcome = timebase_command(*QUICKLY, "--json")
    document = json.loads(outcome.out)
    jsonschema.Draft202012Validator(schemas.load("cpus")).validate(document)
    critical = any(one["severity"] == "critical" for one in document["findings"])
    assert outcome.code == (DISAGREE if critical else AGREE)
    first = next(row for row in document["cpus"] if row["cpu"] == document["reference_cpu"])
    assert (first["offset_ticks"], first["error_ticks"]) == (0, 0)


def test_table(timebase_command):
    outcome = timebase_command(*QUICKLY)
    assert "against" in outcome.out
    assert "The kernel keeps time by" in outcome.out


def test_all_that_there_are_are_listed_before_a_measurement():
    with open_cpus() as cpus:
        found = cpus.list()
    assert [one.state for one in found].count("measured") == 1
    assert [one.cpu for one in found] == sorted(one.cpu for one in found)


def test_the_kernels_clock_has_nothing_to_compare(timebase_command):
    outcome = timebase_command(*QUICKLY, environment={"TIMEBASE_COUNTER": "os"})
    assert outcome.code == FAILED
    assert "no counters to compare" in outcome.err


@pytest.mark.parametrize("wrong", [("--times", "0"), ("--interval", "soon"), ("--interval", "0")])
def test_wrong_input(timebase_command, wrong):
    assert timebase_command("cpus", *wrong).code == WRONG_INPUT


# ---- anywhere ------------------------------------------------------------------------------------


def test_counters_that_agree_are_fine(counter):
    assert ids(judge([reference(), cpu(1, -40)], counter, None)) == [("cpus-agree", "ok")]


def test_an_offset_within_its_error_is_no_difference(counter):
    assert ids(judge([reference(), cpu(1, 300)], counter, None)) == [("cpus-agree", "ok")]
    found = judge([reference(), cpu(1, 301)], counter, None)
    assert ids(found) == [("cpus-differ", "critical")]


def test_who_differs_is_named_and_by_how_much(counter):
    found = judge([reference(), cpu(1), cpu(2, -5_000_000_000), cpu(3, 700)], counter, None)
    assert found[0].text.startswith("CPUs 2-3: ")
    assert "5,000,000,000 ticks" in found[0].text


def test_a_drift_beyond_its_error_is_found(counter):
    found = judge([reference(), cpu(1, drift=-50_000)], counter, None)
    assert ("cpus-drift", "critical") in ids(found)
    assert "-50 ppm" in found[0].text
    assert ids(judge([reference(), cpu(1, drift=900)], counter, None)) == [("cpus-agree", "ok")]


def test_a_counter_that_jumps_cannot_be_corrected(counter):
    for one in (cpu(1, jumps=1), cpu(1, state="inconsistent")):
        assert ("cpus-jump", "critical") in ids(judge([reference(), one], counter, None))


@pytest.mark.parametrize(
    ("one", "name", "are_registered", "is_said"),
    [
        (cpu(1, 301), "CNTVCT", False, True),
        (cpu(1, drift=-50_000), "CNTVCT", False, True),
        (cpu(1, 300), "CNTVCT", False, False),
        (cpu(1, 301), "CNTVCT", True, False),
        (cpu(1, 301), "TSC", False, False),
    ],
)
def test_a_difference_that_nobody_corrects_is_told(counter, one, name, are_registered, is_said):
    other = dataclasses.replace(counter, name=name)
    found = ids(can_they_be_corrected([reference(), one], other, are_registered))
    assert found == ([("cpus-untold", "info")] if is_said else [])


def are_registered_with(tunables):
    code = "from timebase.doctor import sequences; print(sequences.are_registered())"
    environment = {**os.environ, "GLIBC_TUNABLES": tunables}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip() == "True"


def test_restartable_sequences_are_found_where_the_kernel_has_them():
    if os.confstr("CS_GNU_LIBC_VERSION").split()[1] < "2.35":
        pytest.skip("this C library knows none")
    if ctypes.CDLL(None).getauxval(AT_RSEQ_FEATURE_SIZE) == 0:
        pytest.skip("this kernel does not tell")
    assert are_registered_with("")


def test_and_not_where_the_c_library_is_told_to_leave_them():
    assert not are_registered_with("glibc.pthread.rseq=0")


def test_who_is_not_known_is_named(counter):
    found = judge([reference(), cpu(4, state="hidden"), cpu(5, state="unknown")], counter, None)
    assert ids(found) == [("cpus-hidden", "info"), ("cpus-unknown", "info")]
    assert found[0].text.startswith("CPU 4: ")


def test_readings_that_contradicted_the_daemons_order_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor_cpus, "copy_page", lambda _path: SimpleNamespace(page=None))
    monkeypatch.setattr(doctor_cpus, "is_corrected", lambda _page: True)
    page, metrics = tmp_path / "page", tmp_path / "metrics.prom"
    corrected = ("cpus-corrected", "info")
    assert ids(doctor_cpus._does_the_daemon_correct(page)) == [corrected]
    metrics.write_text("timebase_up 1\ntimebase_contradictions_total 0\n")
    assert ids(doctor_cpus._does_the_daemon_correct(page)) == [corrected]
    metrics.write_text("timebase_up 1\ntimebase_contradictions_total 2\n")
    found = list(doctor_cpus._does_the_daemon_correct(page))
    assert ids(found) == [corrected, ("cpus-contradicted", "warning")]
    assert found[1].text.startswith("2 times ")


def test_nobody_misses_a_cpu_that_is_offline(counter):
    found = judge([reference(), cpu(1), cpu(2, state="offline")], counter, None)
    assert ids(found) == [("cpus-agree", "ok")]


def test_the_kernels_verdict_is_passed_on(counter):
    distrusted = dataclasses.replace(
        counter, reason_names=("KERNEL_DISTRUSTS",), kernel_clocksource="hpet"
    )
    found = judge([reference(), cpu(1)], distrusted, ["tsc: Marking TSC unstable"])
    assert ids(found) == [("kernel-distrusts", "warning"), ("cpus-agree", "ok")]
    assert "hpet: tsc: Marking TSC unstable" in found[0].text


def test_a_picture_shows_the_range_and_zero():
    row = dataclasses.asdict(cpu(1, offset=500, error=300))
    drawn = picture(row, 800)
    assert len(drawn) == PICTURE_CELLS
    assert drawn[PICTURE_CELLS // 2] == "·"
    assert drawn.rstrip().endswith("─")
    assert drawn.index("●") > PICTURE_CELLS // 2
    assert picture(dataclasses.asdict(cpu(1, state="hidden")), 800) == ""


def test_an_old_range_says_how_old_it_is():
    row = dataclasses.asdict(cpu(1))
    assert state({**row, "age_s": 0.001}) == "measured"
    assert state({**row, "age_s": 0.8}) == "measured 0.8 s ago"
    assert state({**row, "age_s": 1500, "jumps": 2}) == "measured 1,500.0 s ago, 2 jumps"
    assert state({**row, "state": "hidden", "age_s": None}) == "hidden"


@pytest.mark.parametrize(
    ("line", "is_ours"),
    [
        ("clocksource: Switched to clocksource hpet", True),
        ("tsc: Marking TSC unstable due to clocksource watchdog", True),
        ("Using standard time base at 512 MHz", True),
        ("timebase: running at 512 MHz", True),
        ("exe[1097]: segfault at 0 ip 0 error 6 in libtimebase-preload.so[1308,7f38+3000]", False),
        ("timebased[7]: segfault at 0 in timebased[400000+1000]", False),
        ("audit: name=/usr/bin/timebase", False),
    ],
)
def test_of_the_kernels_log_it_shows_what_is_about_clocks(line, is_ours):
    assert bool(CLOCKSOURCE_WORDS.search(line)) == is_ours
