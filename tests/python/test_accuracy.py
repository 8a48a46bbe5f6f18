# SPDX-License-Identifier: MIT
"""How close work begins to its tick: what a run gives and leaves. Nothing here asserts how good a
machine is; bench/accuracy.py measures that."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import jsonschema
import pytest
from interruptions import interrupt

from timebase import schemas
from timebase.accuracy import delay, experiments, session
from timebase.accuracy.extent import QUICK
from timebase.accuracy.summary import SHARES
from timebase.accuracy.timer import PERIODS, TURNS
from timebase.api.errors import InputError
from timebase.bench.placement import allowed_cpus
from timebase.report.file import require_folder

WANTED_ROWS = {
    "loop",
    "plain",
    "exact",
    "exact_undisturbed",
    "watch",
    "loop_far",
    "exact_far",
    "loop_idle",
    "rehearsed_idle",
    "exact_work",
    "exact_cold",
    "event_cold_rehearsed",
    "sleep_then_wait_1khz",
    "loop_1khz",
    "delay_200ns",
    "delay_200ns_loop",
    "delay_200ns_watch",
    "delay_1us",
}
FIGURES = {
    *("figure3", "figure4", "figure5", "figure6", "figure7_8"),
    *("figure9", "figure10", "figure11", "figure12"),
    *("histogram", "state", "cold", "event", "loads", "sleep", "delay"),
}
TINY = replace(
    QUICK,
    rounds=2,
    sweeps=2,
    places=4,
    hits=200,
    far=10,
    idle=2,
    idle_ns=1_000_000,
    work=4,
    vector=50,
    cold=20,
    dispatch_sec=0.002,
    sleeps=16,
    delays=20,
    delay_sec=0.001,
)
PERCENTILES = tuple(SHARES)
RAW = tuple(f"raw_{key}" for key in PERCENTILES)
MOST_BYTES = 1_000_000


# ---- a run


def valid(document, verb="accuracy"):
    jsonschema.Draft202012Validator(schemas.load(verb)).validate(document)
    return {row["name"]: row for row in document["rows"]}


@pytest.fixture(scope="module")
def tiny():
    before = (allowed_cpus(), os.sched_getscheduler(0))
    document = experiments.run(TINY, seed=7)
    assert (allowed_cpus(), os.sched_getscheduler(0)) == before
    return document


def test_tiny_run_is_valid_and_whole(tiny):
    rows = valid(tiny)
    assert len(rows) == len(tiny["rows"])
    assert rows.keys() >= WANTED_ROWS
    assert {one["id"] for one in tiny["figures"]} == FIGURES
    assert tiny["seed"] == 7
    for found in tiny["rows"]:
        for keys in (PERCENTILES, RAW):
            known = [found[key] for key in keys if found[key] is not None]
            assert known == sorted(known)
        assert found["conditions"]["pinned"]


def test_trials_bound_a_run_not_time(tiny):
    rows = valid(tiny)
    assert rows["exact"]["trials"] == rows["loop"]["trials"] == TINY.hits
    assert rows["loop_idle"]["trials"] == TINY.idle
    assert rows["exact_cold"]["trials"] <= TINY.cold
    assert rows["sleep_then_wait_1khz"]["trials"] <= TINY.sleeps
    assert rows["delay_200ns"]["trials"] <= max(TINY.delays, delay.LEAST_TRIALS)
    for period, ns in PERIODS.items():
        most = max(4 * TURNS, TINY.dispatch_sec * 1e9 / ns)
        found = [of_row for name, of_row in rows.items() if name.startswith(f"timer_{period}")]
        assert found
        assert all(of_row["trials"] <= most for of_row in found)


def test_the_figures_of_the_paper_are_there(tiny):
    numbers = " ".join(one["paper"] or "" for one in tiny["figures"])
    for number in range(3, 13):
        assert str(number) in numbers.replace(" and ", " ").split()


def test_every_figure_has_data_or_a_reason(tiny):
    for one in tiny["figures"]:
        assert one["panels"] or one["note"]
        for panel in one["panels"]:
            assert panel["series"]
            for series in panel["series"]:
                lengths = {len(series[key]) for key in ("x", "y", "low", "high") if key in series}
                assert len(lengths) == 1


def test_one_experiment_alone():
    document = experiments.run(TINY, names=["hit"])
    rows = valid(document)
    assert {"plain", "exact"} <= rows.keys()
    assert [one["id"] for one in document["figures"]] == ["histogram"]


def test_the_reports_schema_has_the_same_parts():
    ours, report = (schemas.load(verb)["$defs"] for verb in ("accuracy", "report"))
    for name in (
        *("axis", "series", "figure", "conditions", "waiter", "machine"),
        *("core", "wait_verdict", "row_conditions"),
    ):
        assert ours[name] == report[name]
    assert ours["row"] == report["accuracy_row"]


def refused(name):
    return SimpleNamespace(name=name, reason="Operation not permitted", advice="Run as root.")


def test_refused_rights_are_told():
    rights = SimpleNamespace(granted=0, refused=(refused("SCHED_FIFO"),))
    found = session.conditions(0, rights, (0.1, 0.2, 0.3))
    assert found["refused"] == [
        {"name": "SCHED_FIFO", "reason": "Operation not permitted", "advice": "Run as root."}
    ]
    assert found["granted"] == []


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can give up rights"
)
def test_without_rights_it_measures_all_the_same(tmp_path):
    code = (
        "import json; from timebase.accuracy import experiments;"
        "from timebase.accuracy.extent import QUICK; from dataclasses import replace;"
        "print(json.dumps(experiments.run(replace(QUICK, rounds=2, hits=100),"
        " names=['hit'])))"
    )
    command = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
    done = subprocess.run(
        [*command, sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=no_realtime_priority,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    valid(document)
    assert "SCHED_FIFO" in [refusal["name"] for refusal in document["conditions"]["refused"]]
    assert document["conditions"]["scheduler"] == "SCHED_OTHER"


def no_realtime_priority():
    import resource

    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))


# ---- the command line


def test_experiments_by_name():
    assert experiments.chosen(None) == list(experiments.EXPERIMENTS)
    assert experiments.chosen("delay") == ["delay"]
    with pytest.raises(InputError, match="offset, hit"):
        experiments.chosen("nothing")


def test_help_names_each_experiment(timebase_command):
    said = timebase_command("accuracy", "--help").out
    for name in experiments.EXPERIMENTS:
        assert name in said


@pytest.mark.parametrize(
    "arguments, told",
    [
        (("--cpu", "9999"), "9999"),
        (("--cpu", "-1"), "-1"),
        (("--cpu", "one"), "--cpu"),
        (("--only", "nothing"), "offset, hit, state, cold, timer, sleep, delay"),
        (("--out", "/proc/here"), "/proc/here"),
        (("--out", "a-file/here"), "a-file"),
        (("--seed", "-3"), "--seed"),
    ],
    ids=str,
)
def test_wrong_input_is_refused_before_anything_is_done(
    timebase_command, tmp_path, arguments, told
):
    (tmp_path / "a-file").touch()
    outcome = timebase_command("accuracy", "--quick", *arguments)
    assert outcome.code == 2
    assert told in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["a-file"]


def test_cpu_is_chosen_among_those_that_may_be_used():
    assert session.choose_cpu(None) in range(os.cpu_count())
    assert session.choose_cpu(allowed_cpus()[0]) == allowed_cpus()[0]
    with pytest.raises(InputError, match="this process may use"):
        session.choose_cpu(100_000)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    require_folder(tmp_path / "new" / "deeper")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="not a directory"):
        require_folder(tmp_path / "file" / "below")


def test_one_experiment_on_the_command_line(timebase_command, tmp_path):
    outcome = timebase_command("accuracy", "--quick", "--only", "hit", "--out", "here")
    assert outcome.code == 0, outcome.err
    assert "exact_undisturbed" in outcome.out
    names = sorted(path.name for path in (tmp_path / "here").iterdir())
    assert names == ["accuracy.json", "histogram.png", "histogram.svg"]


@pytest.mark.slow
def test_quick_accuracy(timebase_command, tmp_path):
    outcome = timebase_command("accuracy", "--quick", "--json", "--out", "here", "--seed", "5")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    rows = valid(document)
    assert rows.keys() >= WANTED_ROWS
    assert document["quick"] and document["seed"] == 5
    folder = tmp_path / "here"
    assert json.loads((folder / "accuracy.json").read_text()) == document
    # Figures are points of curves and bins, never all samples: however disturbed the machine was.
    assert (folder / "accuracy.json").stat().st_size < MOST_BYTES
    for name in FIGURES:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert ElementTree.parse(folder / f"{name}.svg").getroot().tag.endswith("svg")
    assert len(list(folder.iterdir())) == 2 * len(FIGURES) + 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_interrupted_accuracy_leaves_nothing(tmp_path, number):
    measuring = (
        "from timebase.accuracy import experiments; run = experiments.EXPERIMENTS['offset'][1];"
        "tell = lambda *all: (print('begun', flush=True), run(*all))[1];"
        "experiments.EXPERIMENTS['offset'] = ('', tell)"
    )
    assert interrupt(number, tmp_path, measuring, "accuracy", "--quick") != 0
    assert list(tmp_path.iterdir()) == []
