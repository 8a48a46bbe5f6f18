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
from timebase.accuracy import cold, core, delay, experiments, figure, rows, session, trials
from timebase.accuracy.extent import QUICK
from timebase.accuracy.hit import FINEST_BIN_NS, MOST_BINS, bins
from timebase.accuracy.summary import SHARES, Trials, joined, quantile, row
from timebase.accuracy.timer import PERIODS, TURNS
from timebase.api.errors import InputError, TimebaseError
from timebase.api.library import check, ffi, lib
from timebase.api.realtime import Realtime
from timebase.api.wait import Waiter
from timebase.bench.percentile import least_count
from timebase.bench.placement import allowed_cpus, pinned, quiet_cpu
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
PERCENTILES = ("p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns")
MOST_BYTES = 1_000_000
RAW = tuple(f"raw_{key}" for key in PERCENTILES)


def made(error_ns, disturbance=None, late=None, missed=0, bound_ns=0.0):
    count = len(error_ns)
    return Trials(
        numpy.array(error_ns, float),
        numpy.full(count, bound_ns),
        numpy.array(late if late is not None else [False] * count, bool),
        numpy.array(disturbance if disturbance is not None else [0] * count, numpy.uint32),
        numpy.full(count, -1, numpy.int32),
        numpy.zeros(count, int),
        looks((1.0, 0.25), (1.0, 0.25)),
        missed,
        cpu_ns=30,
        wall_ns=60,
    )


def looks(*pairs):
    """Blocks: (cycle, addition) before and after each."""
    flat = [(*before, *after) for before, after in zip(pairs[::2], pairs[1::2])]
    return numpy.array(flat, core.LOOK)


# ---- rows


def test_percentiles_are_nearest_ranks_of_all_trials():
    rng = numpy.random.default_rng(1)
    errors = rng.permutation(numpy.arange(10_000.0) - 5000)  # median, nearest rank: -1
    found = row("some", made(errors))
    ranks = [4999, 8999, 9499, 9899, 9989]
    sizes = sorted(abs(error + 1) for error in errors)
    assert found["bias_ns"] == -1
    assert [found[key] for key in PERCENTILES] == [sizes[rank] for rank in ranks]
    sizes = sorted(abs(error) for error in errors)
    assert [found[key] for key in RAW] == [sizes[rank] for rank in ranks]


def test_a_constant_lateness_is_in_the_raw_error_and_not_in_the_spread():
    errors = numpy.random.default_rng(4).normal(0, 5, 99_999)
    here, there = row("some", made(errors)), row("some", made(errors + 1000))
    assert there["bias_ns"] == pytest.approx(1000 + here["bias_ns"], abs=1)
    for key in PERCENTILES:
        assert there[key] == pytest.approx(here[key], abs=0.01)
        assert there[f"raw_{key}"] > 980 > here[f"raw_{key}"]


@pytest.mark.parametrize(
    "share, least", [(0.5, 20), (0.9, 100), (0.95, 200), (0.99, 1000), (0.999, 10_000)]
)
def test_a_percentile_needs_ten_values_beyond_it(share, least):
    key = next(key for key, value in SHARES.items() if value == share)
    assert least_count(share) == least
    for count, is_there in ((least - 1, False), (least, True)):
        found = row("some", made(numpy.arange(float(count))))
        assert (found[key] is not None, found[f"raw_{key}"] is not None) == (is_there, is_there)


def test_outliers_stay_in():
    errors = [0.0] * 9980 + [1e6] * 20
    found = row("some", made(errors, disturbance=[0] * 9980 + [1] * 20))
    assert found["trials"] == 10_000
    assert found["p999_ns"] == found["raw_p999_ns"] == 1e6
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


def test_a_method_without_evidence_says_so():
    assert row("some", made([1.0]), evidence=False)["disturbed_share"] is None


def test_no_trials_have_no_percentiles():
    found = row("some", made([], missed=7))
    assert [found[key] for key in (*PERCENTILES, *RAW)] == [None] * 10
    assert found["late_share"] == 1
    assert row("none", Trials())["late_share"] == 0


def test_cpu_share():
    assert row("some", made([1.0]))["cpu_share"] == 0.5


def test_joined_trials_keep_all_and_know_their_blocks():
    second = made([3.0], late=[True], missed=2)
    second.looks = looks((2.0, 0.5), (2.0, 0.5))
    both = joined([made([1.0, 2.0], disturbance=[0, 1], missed=1), second])
    assert list(both.error_ns) == [1, 2, 3]
    assert list(both.disturbance) == [0, 1, 0]
    assert list(both.late) == [False, False, True]
    assert list(both.block) == [0, 0, 1]
    assert [look["cycle_before"] for look in both.where(both.late).blocks()] == [2.0]
    assert (both.missed, both.cpu_ns, both.wall_ns) == (3, 60, 120)
    assert len(joined([])) == 0


def test_what_the_loop_ended_is_told_of_waits_alone():
    trials = made([1.0] * 4)
    assert row("some", trials)["loop_share"] is None
    trials.mechanism[:] = [1, 3, 3, 3]
    assert row("some", trials)["loop_share"] == 0.25
    assert row("some", trials, evidence=False)["loop_share"] is None


def test_what_readings_add_to_a_delay_is_taken_off_as_it_was_around_the_trial():
    added = numpy.array([500.0] * 40 + [600.0] * 40)
    added[17] = 90_000.0  # an interrupt
    errors = trials.without_added(added + 7, added)
    errors[17] = 7
    assert list(errors[:33]) == list(errors[-33:]) == [7] * 33


# ---- the core under the trials


def fake_core(quiet):
    found = core.Core.__new__(core.Core)
    found.quiet = quiet
    return found


QUIET, SHARED, UNKNOWN = (1.0, 0.25), (1.0, 0.5), (0.0, 0.0)


@pytest.mark.parametrize(
    "before, after, seen",
    [
        (QUIET, QUIET, core.QUIET),
        (SHARED, SHARED, core.BUSY),
        (QUIET, SHARED, core.MIXED),
        (SHARED, QUIET, core.MIXED),
        (UNKNOWN, QUIET, core.QUIET),
        (UNKNOWN, SHARED, core.BUSY),
    ],
)
def test_a_core_is_shared_if_it_adds_less_in_a_cycle(before, after, seen):
    assert list(fake_core(4.0).sibling(looks(before, after))) == [seen]


def test_a_slower_clock_is_a_step_and_no_neighbour():
    found = looks((1.0, 0.25), (1.3, 0.325))
    assert list(fake_core(4.0).sibling(found)) == [core.QUIET]
    assert core.clock_steps(found) == 1
    assert core.clock_steps(looks((1.0, 0.25), (1.0, 0.5))) == 0
    assert core.clock_steps(looks(UNKNOWN, QUIET)) is None


def test_rows_by_neighbour_are_those_of_its_blocks():
    both = made([1.0, 2.0, 3.0, 4.0])
    both.looks = looks(QUIET, QUIET, SHARED, SHARED, QUIET, SHARED)
    both.block = numpy.array([0, 1, 1, 2])
    fake = SimpleNamespace(core=fake_core(4.0), rights={"cpu": 1})
    found = {row["name"]: row for row in rows.rows_of(fake, "near", {"x": both}, by_sibling=True)}
    assert {name: row["trials"] for name, row in found.items()} == {
        "x": 4, "x_undisturbed": 4, "x_quiet": 1, "x_busy": 2,
    }  # fmt: skip
    assert found["x_busy"]["share"] == 0.5
    assert found["x_busy"]["bias_ns"] == 2.0
    assert found["x"]["conditions"]["busy_share"] == pytest.approx(1 / 3, abs=1e-4)
    assert found["x"]["conditions"]["blocks"] == 3
    assert found["x_quiet"]["conditions"]["quiet_share"] == 1
    assert {row["subset"] for row in found.values()} == {"all", "undisturbed", "quiet", "busy"}


def test_a_look_at_this_core_makes_sense():
    seen = core.look_once()
    assert (core.additions(seen) > 0).all() and numpy.isfinite(core.additions(seen)).all()


# ---- figures as data


def test_exceedance_falls_and_reaches_the_worst():
    errors = numpy.random.default_rng(2).exponential(10, 5000)
    for centre, about_median in ((0, False), (quantile(errors, 0.5), True)):
        found = figure.exceedance("some", "ours", made(errors), about_median=about_median)
        assert found["x"] == sorted(found["x"])
        assert found["y"] == sorted(found["y"], reverse=True)
        assert found["x"][-1] == pytest.approx(max(abs(errors - centre)), rel=1e-4)


def test_histogram_counts_shares_of_all():
    found = figure.histogram(
        "some", "ours", numpy.array([0.5, 0.6, 1.5, 99.0]), numpy.array([0.0, 1, 2])
    )
    assert found["x"] == [0, 1]
    assert found["y"] == [0.5, 0.25]


@pytest.mark.parametrize("spread", [0.1, 30.0, 1e4, 1e8])
def test_a_histogram_has_no_more_bins_than_can_be_drawn(spread):
    """However far a disturbed machine's errors reach."""
    errors = numpy.random.default_rng(6).normal(50, spread, 4000)
    edges, width = bins([errors, errors - 30])
    assert 2 <= len(edges) <= MOST_BINS + 2
    assert width >= FINEST_BIN_NS and width % FINEST_BIN_NS == 0
    assert edges[0] <= quantile(errors - 30, 0.002) and edges[-1] >= quantile(errors, 0.97)


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


# ---- the loops in C


@pytest.fixture
def waiter():
    with pinned(quiet_cpu()):
        yield Waiter()


def method(waiter, **members):
    handles = {"waiter": waiter.handle, "instrument": waiter.handle}
    return ffi.new("struct timebase_bench_method *", {**handles, **members})


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
        {"loop": -9},
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
@pytest.mark.parametrize("dispatcher", range(5))
def test_every_period_is_a_hit_or_missed(dispatcher, period_ns):
    with session.session(quiet_cpu(), 1) as (measuring, _):
        found = trials.dispatches(
            measuring, dispatcher, period_ns, 40, flags=lib.TIMEBASE_WAIT_SLEEP, load=0
        )
    assert len(found) + found.missed == 40
    assert found.missed >= 0
    assert (found.error_ns > -50_000).all()


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
    "members", [{"dispatcher": 5}, {"dispatcher": -1}, {"period_ns": 0}, {"load": 99}], ids=str
)
def test_schedules_that_make_no_sense_are_refused(waiter, members):
    usual = {"dispatcher": 0, "period_ns": 1000, "periods": 1, "load": 0}
    asked = {"waiter": waiter.handle, "instrument": waiter.handle, **usual, **members}
    schedule = ffi.new("struct timebase_bench_schedule *", asked)
    with pytest.raises(TimebaseError):
        check(lib.timebase_bench_dispatch(schedule, ffi.new("struct timebase_bench_hit[]", 1)))


def block_of(waiter, count, **members):
    """So many trials of one method, in C."""
    handles = {"waiter": waiter.handle, "instrument": waiter.handle}
    method = ffi.new("struct timebase_bench_method *", {**handles, **members})
    instrument = ffi.new("struct timebase_bench_instrument *", {"waiter": waiter.handle})
    ahead = ffi.new("uint32_t[]", [3000] * count)
    found, seen = (
        ffi.new("struct timebase_bench_hit[]", count),
        ffi.new("struct timebase_bench_block[]", 1),
    )
    asked = {"instrument": instrument,
        "methods": method, "method_count": 1, "blocks": 1, "block_trials": count,
             "ahead_ticks": ahead}  # fmt: skip
    turns = ffi.new("struct timebase_bench_turns *", asked)
    check(lib.timebase_bench_take_turns(turns, found, seen))
    return list(found), seen[0]


def test_delays_are_no_shorter_than_asked_by_the_kernel_and_the_loop(waiter):
    """But for what the readings can tell, and a step of the counter."""
    asked = {"form": lib.TIMEBASE_BENCH_DELAY, "delay_ns": 2000, "delay_ticks": 1000.0}
    for loop in (lib.TIMEBASE_BENCH_NAIVE, lib.TIMEBASE_BENCH_SLEEP):
        for found in block_of(waiter, 50, loop=loop, **asked)[0]:
            assert found.error_ticks > -found.bound_ticks
            assert found.added_ticks >= 0


def test_every_way_to_wait_is_tried_and_looked_around(waiter):
    for loop in (lib.TIMEBASE_BENCH_WAITER, lib.TIMEBASE_BENCH_NAIVE, lib.TIMEBASE_BENCH_PAPER):
        for form in (lib.TIMEBASE_BENCH_CALL, lib.TIMEBASE_BENCH_UNTIL):
            found, seen = block_of(waiter, 20, loop=loop, form=form)
            assert all(hit.bound_ticks > 0 for hit in found)
            assert min(seen.cycle_ticks_before, seen.add_ticks_after) > 0


@pytest.mark.parametrize(
    "members",
    [
        {"loop": 99},
        {"loop": -9},
        {"form": 7},
        {"loop": -3},  # nothing can be awaited, and not be called
        {"loop": -4},
        {"form": 2, "loop": 0},  # the paper has no delay
        {"form": 2, "delay_ticks": -1.0},
        {"form": 2, "delay_ticks": float("nan")},
        {"before": 1 << 30},
    ],
    ids=str,
)
def test_methods_that_make_no_sense_are_refused(waiter, members):
    with pytest.raises(TimebaseError):
        block_of(waiter, 1, **members)


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
    program = [sys.executable, "-c", "from timebase.cli import main; main()", "accuracy", "--quick"]
    running = subprocess.Popen(program, cwd=tmp_path, stderr=subprocess.PIPE)
    time.sleep(2)
    running.send_signal(number)
    running.communicate()
    assert running.returncode != 0
    assert list(tmp_path.iterdir()) == []
