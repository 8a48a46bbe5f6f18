# SPDX-License-Identifier: MIT
"""How close work begins to its tick: that the numbers are what they say. Nothing here asserts how
good a machine is; bench/accuracy.py measures that."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import jsonschema
import numpy
import pytest

from timebase import schemas
from timebase.accuracy import cold, delay, experiments, figure, session, trials
from timebase.accuracy.extent import QUICK
from timebase.accuracy.summary import Trials, quantile, row
from timebase.accuracy.timer import PERIODS, TURNS
from timebase.api.errors import InputError, TimebaseError
from timebase.api.library import check, ffi, lib
from timebase.api.realtime import Realtime
from timebase.api.wait import Waiter
from timebase.bench.placement import allowed_cpus, pinned, quiet_cpu
from timebase.report.file import require_folder

WANTED_ROWS = {
    "plain",
    "exact",
    "exact_undisturbed",
    "exact_cold",
    "sleep_then_wait_1khz",
    "delay_200ns",
    "delay_1us",
}
FIGURES = {
    *("figure3", "figure4", "figure5", "figure6", "figure7_8"),
    *("figure9", "figure10", "figure11", "figure12"),
    *("histogram", "cold", "event", "loads", "sleep", "delay"),
}
TINY = replace(
    QUICK,
    rounds=2,
    sweeps=2,
    places=4,
    hits=40,
    cold=8,
    dispatch_sec=0.002,
    sleeps=16,
    delays=20,
    delay_sec=0.001,
)
PERCENTILES = ("p50_ns", "p90_ns", "p99_ns", "p999_ns")


def made(error_ns, disturbance=None, late=None, missed=0, bound_ns=0.0):
    count = len(error_ns)
    return Trials(
        numpy.array(error_ns, float),
        numpy.full(count, bound_ns),
        numpy.array(late if late is not None else [False] * count, bool),
        numpy.array(disturbance if disturbance is not None else [0] * count, numpy.uint32),
        missed,
        cpu_ns=30,
        wall_ns=60,
    )


# ---- rows


def test_percentiles_are_nearest_ranks_of_all_trials():
    rng = numpy.random.default_rng(1)
    errors = rng.permutation(numpy.arange(1000.0) - 500)  # median, nearest rank: -1
    found = row("some", made(errors))
    sizes = sorted(abs(error + 1) for error in errors)
    assert found["bias_ns"] == -1
    assert [found[key] for key in PERCENTILES] == [sizes[499], sizes[899], sizes[989], sizes[998]]


def test_a_constant_lateness_is_bias_and_not_error():
    errors = numpy.random.default_rng(4).normal(0, 5, 999)
    here, there = row("some", made(errors)), row("some", made(errors + 1000))
    assert there["bias_ns"] == pytest.approx(1000 + here["bias_ns"], abs=1)
    for key in PERCENTILES:
        assert there[key] == pytest.approx(here[key], abs=0.01)


def test_outliers_stay_in():
    errors = [0.0] * 998 + [1e6, 1e6]
    found = row("some", made(errors, disturbance=[0] * 998 + [1, 1]))
    assert found["trials"] == 1000
    assert found["p999_ns"] == 1e6
    assert found["disturbed_share"] == 0.002


def test_undisturbed_is_the_subset_without_evidence():
    trials = made([1.0, 1.0, 1.0, 5000.0], disturbance=[0, 0, 0, 8])
    assert list(trials.undisturbed().error_ns) == [1.0, 1.0, 1.0]
    # an error alone is no evidence
    assert len(made([0.0, 1e9]).undisturbed()) == 2


def test_late_counts_what_never_began():
    found = row("some", made([1.0, 2.0, 3.0], late=[True, False, False], missed=1))
    assert found["trials"] == 4
    assert found["late_share"] == 0.5
    assert found["missed_share"] == 0.25


def test_early_counts_only_what_the_measurement_can_tell():
    found = row("some", made([-3.0, -1.0, 0.0, 9.0], bound_ns=2.0))
    assert found["early_share"] == 0.25


def test_a_bias_that_is_given_is_not_sought():
    found = row("some", made([10.0] * 5), bias_ns=0.0)
    assert found["bias_ns"] == 0
    assert found["p50_ns"] == 10


def test_a_method_without_evidence_says_so():
    assert row("some", made([1.0]), evidence=False)["disturbed_share"] is None


def test_no_trials_have_no_percentiles():
    found = row("some", made([], missed=7))
    assert [found[key] for key in PERCENTILES] == [None] * 4
    assert found["late_share"] == 1
    assert row("none", Trials())["late_share"] == 0


def test_cpu_share():
    assert row("some", made([1.0]))["cpu_share"] == 0.5


def test_added_trials_keep_all():
    sum_of_two = made([1.0, 2.0], disturbance=[0, 1], missed=1)
    sum_of_two.add(made([3.0], late=[True], missed=2))
    assert list(sum_of_two.error_ns) == [1, 2, 3]
    assert list(sum_of_two.disturbance) == [0, 1, 0]
    assert list(sum_of_two.late) == [False, False, True]
    assert (sum_of_two.missed, sum_of_two.cpu_ns, sum_of_two.wall_ns) == (3, 60, 120)


# ---- figures as data


def test_exceedance_falls_and_reaches_the_worst():
    errors = numpy.random.default_rng(2).exponential(10, 5000)
    found = figure.exceedance("some", "ours", made(errors))
    assert found["x"] == sorted(found["x"])
    assert found["y"] == sorted(found["y"], reverse=True)
    worst = max(abs(errors - quantile(errors, 0.5)))
    assert found["x"][-1] == pytest.approx(worst, rel=1e-4)


def test_histogram_counts_shares_of_all():
    found = figure.histogram(
        "some", "ours", numpy.array([0.5, 0.6, 1.5, 99.0]), numpy.array([0.0, 1, 2])
    )
    assert found["x"] == [0, 1]
    assert found["y"] == [0.5, 0.25]


@pytest.mark.parametrize(
    "ns, said",
    [(0, "0 ns"), (0.414, "0.41 ns"), (-1.26, "-1.3 ns"), (16.6, "17 ns"), (999, "1.0 µs"),
     (16_600, "17 µs"), (2_500_000, "2.5 ms")],
)  # fmt: skip
def test_words(ns, said):
    assert figure.words(ns) == said


# ---- turns


def turns_with(rounds, clock, expected_sec=1.0):
    called = []
    methods = {n: (lambda n=n: called.append(n) or made([1.0])) for n in ("one", "two", "three")}
    fake = SimpleNamespace(random=numpy.random.default_rng(3))
    clock(called)
    found = trials.take_turns(fake, methods, rounds, expected_sec, lambda share: None)
    return called, found


def test_methods_take_turns(monkeypatch):
    called, found = turns_with(50, lambda _: None)
    rounds = [called[i : i + 3] for i in range(0, 150, 3)]
    assert all(sorted(each) == ["one", "three", "two"] for each in rounds)
    assert len({tuple(each) for each in rounds}) > 1  # not always in the same order
    assert {len(of_one) for of_one in found.values()} == {50}


def test_a_machine_that_is_far_too_slow_gets_fewer_rounds(monkeypatch):
    def a_second_each(called):
        monkeypatch.setattr(trials.time, "perf_counter", lambda: float(len(called)))

    _, found = turns_with(50, a_second_each, expected_sec=4.0)
    assert {len(of_one) for of_one in found.values()} == {5}  # 13 s of 12 allowed


def test_seed_decides_the_targets():
    """Of one pace: that of another session is measured anew, and may differ in its last digits."""
    targets = []
    for _ in range(2):
        with session.session(quiet_cpu(), 99) as (measuring, _):
            measuring.ns_per_tick = 0.4
            targets.append(measuring.random_ticks(1500, 4000, 100).tolist())
    assert targets[0] == targets[1]
    assert 3750 <= min(targets[0]) < max(targets[0]) <= 10_000


# ---- what a run gives and leaves


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
        known = [found[key] for key in PERCENTILES if found[key] is not None]
        assert known == sorted(known)


def test_trials_bound_a_run_not_time(tiny):
    rows = valid(tiny)
    assert rows["exact"]["trials"] <= TINY.hits
    assert rows["exact_cold"]["trials"] <= TINY.cold
    assert rows["sleep_then_wait_1khz"]["trials"] <= TINY.sleeps
    assert rows["delay_200ns"]["trials"] <= TINY.delays
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
    for name in ("axis", "series", "figure", "conditions", "waiter", "machine"):
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
        "print(json.dumps(experiments.run(replace(QUICK, rounds=2, hits=40),"
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


# ---- the loops in C


@pytest.fixture
def waiter():
    with pinned(quiet_cpu()):
        yield Waiter()


def method(waiter, **members):
    return ffi.new("struct timebase_bench_method *", {"waiter": waiter.handle, **members})


def hit(asked, count=1):
    ahead = ffi.new("uint32_t[]", [5000] * count)
    out = ffi.new("struct timebase_bench_hit[]", count)
    return check(lib.timebase_bench_hits(asked, ahead, count, out))


@pytest.mark.parametrize("loop", trials.loop_numbers().values(), ids=trials.loop_numbers())
def test_loops_make_hits(waiter, loop):
    assert hit(method(waiter, loop=loop), 20) == 0


@pytest.mark.parametrize(
    "members",
    [
        {"loop": 99},
        {"loop": -2},
        {"loop": 0, "place": 64},
        {"loop": 0, "place": -1},
        {"loop": 1, "place": 1},
        {"loop": -1, "before": 1 << 20},
        {"loop": -1, "flags": 1 << 20},
    ],
    ids=str,
)
def test_methods_that_are_not_there_are_refused(waiter, members):
    with pytest.raises(TimebaseError):
        hit(method(waiter, **members))


def test_null_waiter_is_refused():
    with pytest.raises(TimebaseError):
        hit(ffi.new("struct timebase_bench_method *", {"loop": 0}))


@pytest.mark.parametrize("period_ns", [50_000, 3_000])  # of the shorter one, most are missed
@pytest.mark.parametrize("dispatcher", range(4))
def test_every_period_is_a_hit_or_missed(dispatcher, period_ns):
    with session.session(quiet_cpu(), 1) as (measuring, _):
        found = trials.dispatches(
            measuring, dispatcher, period_ns, 40, flags=lib.TIMEBASE_WAIT_SLEEP, load=0
        )
    assert len(found) + found.missed == 40
    assert found.missed >= 0
    assert (found.error_ns > -50_000).all()


def test_what_the_measurement_adds_to_a_delay_is_taken_off(monkeypatch):
    added = {lib.TIMEBASE_BENCH_DELAY_NONE: 386.0}

    def pretend(_session, way, _delay_ns, count):
        return made([added.get(way, 391.0)] * count)

    monkeypatch.setattr(delay, "delays", pretend)
    fake = SimpleNamespace(random=numpy.random.default_rng(5))
    found = delay._delays(fake, TINY, 200)
    assert found.keys() == {delay.NOTHING, *delay.DELAYERS}
    watch = found.pop(delay.NOTHING)
    assert set(watch.error_ns) == {0.0}
    assert {error for of_one in found.values() for error in of_one.error_ns} == {5.0}


def test_names_of_delays():
    assert [delay.name_of(ns) for ns in (10, 500, 1_000, 20_000, 10_000_000)] == [
        "delay_10ns",
        "delay_500ns",
        "delay_1us",
        "delay_20us",
        "delay_10ms",
    ]


def test_each_way_to_make_caches_cold_is_another():
    methods = cold._methods()
    assert len(set(methods.values())) == len(methods)


def test_a_signal_left_over_does_no_harm():
    """The timer's signal would end a process that has no handler for it any more."""
    with session.session(quiet_cpu(), 1) as (measuring, _):
        for _ in range(20):
            trials.dispatches(measuring, lib.TIMEBASE_BENCH_DISPATCH_SIGNAL, 5_000, 20)
    time.sleep(0.01)


@pytest.mark.parametrize(
    "members", [{"dispatcher": 4}, {"dispatcher": -1}, {"period_ns": 0}, {"load": 99}], ids=str
)
def test_schedules_that_make_no_sense_are_refused(waiter, members):
    usual = {"dispatcher": 0, "period_ns": 1000, "periods": 1, "load": 0}
    asked = {"waiter": waiter.handle, **usual, **members}
    schedule = ffi.new("struct timebase_bench_schedule *", asked)
    with pytest.raises(TimebaseError):
        check(lib.timebase_bench_dispatch(schedule, ffi.new("struct timebase_bench_hit[]", 1)))


def test_delays_are_no_shorter_than_asked_by_the_kernel_and_the_loop(waiter):
    out = ffi.new("struct timebase_bench_hit[]", 50)
    for delayer in (lib.TIMEBASE_BENCH_DELAY_LOOP, lib.TIMEBASE_BENCH_DELAY_SLEEP):
        check(lib.timebase_bench_delays(waiter.handle, delayer, 2000, 1000.0, 50, out))
        assert all(found.error_ticks > -found.bound_ticks for found in out)


def test_one_load_at_a_time():
    assert lib.timebase_bench_load_start(0, quiet_cpu()) == 0
    try:
        with pytest.raises(TimebaseError):
            check(lib.timebase_bench_load_start(0, quiet_cpu()))
    finally:
        lib.timebase_bench_load_stop()
    assert lib.timebase_bench_load_start(0, quiet_cpu()) == 0
    lib.timebase_bench_load_stop()


def test_the_load_leaves_the_cpu_to_a_realtime_thread():
    """Else who measures under it would wait for it."""
    with Realtime(quiet_cpu()):
        check(lib.timebase_bench_load_start(0, quiet_cpu()))
        try:
            threads = {int(thread) for thread in os.listdir("/proc/self/task")}
            ours = threading_native_id()
            policies = {os.sched_getscheduler(thread) for thread in threads - {ours}}
        finally:
            lib.timebase_bench_load_stop()
    assert policies == {os.SCHED_OTHER}


def threading_native_id():
    import threading

    return threading.get_native_id()


@pytest.mark.parametrize("load, cpu", [(99, 0), (-1, 0), (0, -1), (0, 100_000)])
def test_wrong_loads_are_refused(load, cpu):
    with pytest.raises(TimebaseError):
        check(lib.timebase_bench_load_start(load, cpu))


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
        (("--only", "nothing"), "offset, hit, cold, timer, sleep, delay"),
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


def numbers_in(value):
    if isinstance(value, dict):
        return sum(numbers_in(inner) for inner in value.values())
    return sum(map(numbers_in, value)) if isinstance(value, list) else 1


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
    # How many samples there are depends on the machine; each is written in a few characters.
    assert (folder / "accuracy.json").stat().st_size < 20 * numbers_in(document)
    for name in FIGURES:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert ElementTree.parse(folder / f"{name}.svg").getroot().tag.endswith("svg")
    assert len(list(folder.iterdir())) == 2 * len(FIGURES) + 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_interrupted_accuracy_leaves_nothing(tmp_path, number):
    program = [sys.executable, "-c", "from timebase.cli import main; main()", "accuracy", "--quick"]
    running = subprocess.Popen(program, cwd=tmp_path, stderr=subprocess.PIPE)
    time.sleep(2)
    running.send_signal(number)
    running.communicate()
    assert running.returncode != 0
    assert list(tmp_path.iterdir()) == []
