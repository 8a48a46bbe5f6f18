# SPDX-License-Identifier: MIT
"""What is asked of the waits: how far ahead the target is, and what the core has just done.

Each scenario compares with the loop that everybody writes, `while (ticks < target)`, and has the
stopwatch alone beside: two readings with nothing between, which is as well as errors can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from timebase.accuracy.extent import Extent
from timebase.accuracy.session import Session, new_waiter
from timebase.accuracy.summary import Trials, joined
from timebase.accuracy.trials import Blocks, Method, bounded, turns
from timebase.api.library import lib

LOOP, WATCH, EXACT, REHEARSED, STEADY = "loop", "watch", "exact", "rehearsed", "exact_steady"
NAIVE = Method(loop=lib.TIMEBASE_BENCH_NAIVE)
NOTHING = Method(loop=lib.TIMEBASE_BENCH_NOTHING, form=lib.TIMEBASE_BENCH_DELAY)
MUTE = (LOOP, WATCH, "paper", "exact_until")  # gather no evidence


@dataclass(frozen=True)
class Scenario:
    id: str
    words: str
    ahead_ns: tuple[float, float]
    trials: int  # of a block
    state: int = lib.TIMEBASE_BENCH_STATE_AS_IS

    @property
    def by_sibling(self) -> bool:
        """Blocks are so short that the core was all the time as it was seen at both ends."""
        return self.ahead_ns[1] * self.trials <= 500_000 and self.trials > 1


NEAR = Scenario("near", "0.25 to 2 µs ahead", (250, 2000), 50)
STATES = (
    Scenario("far", "1 ms ahead, polling", (1_000_000, 1_040_000), 5),
    Scenario(
        "idle", "4 to 14 µs ahead, after 100 ms idle", (4000, 14_000), 1,
        lib.TIMEBASE_BENCH_STATE_IDLE,
    ),
    Scenario(
        "work", "4 to 14 µs ahead, after 8 MiB of other work", (4000, 14_000), 1,
        lib.TIMEBASE_BENCH_STATE_WORK,
    ),
    Scenario(
        "vector", "0.25 to 2 µs ahead, after AVX-512", (250, 2000), 50,
        lib.TIMEBASE_BENCH_STATE_VECTOR,
    ),
)  # fmt: skip


def steady() -> dict[str, Method]:
    """The wait with the steadier tail, where the library has it."""
    flag = getattr(lib, "TIMEBASE_WAIT_STEADY", None)
    return {} if flag is None else {STEADY: Method(flags=flag)}


def near_methods() -> dict[str, Method]:
    return {
        LOOP: NAIVE,
        EXACT: Method(),
        "exact_until": Method(form=lib.TIMEBASE_BENCH_UNTIL),
        **steady(),
        "exact_never_early": Method(flags=lib.TIMEBASE_WAIT_NEVER_EARLY),
        "plain": Method(flags=lib.TIMEBASE_WAIT_PLAIN),
        "paper": Method(loop=lib.TIMEBASE_BENCH_PAPER),
        WATCH: NOTHING,
    }


def methods_of(scenario: Scenario) -> dict[str, Method]:
    """Where there is the time for it, the event is prepared or rehearsed. The stopwatch is made
    warm before the wait begins: what cold code costs is told by the `cold` experiment."""
    warm = lib.TIMEBASE_BENCH_TOUCH_EVENT
    if scenario.ahead_ns[0] < 4000:
        return {LOOP: NAIVE, EXACT: Method(), **steady(), WATCH: NOTHING}
    return {
        LOOP: replace(NAIVE, before=warm),
        EXACT: Method(flags=lib.TIMEBASE_WAIT_PREPARE, before=warm),
        REHEARSED: Method(flags=lib.TIMEBASE_WAIT_REHEARSE, before=warm),
        WATCH: replace(NOTHING, before=warm),
    }


def is_possible(scenario: Scenario) -> bool:
    return bool(lib.timebase_bench_state_possible(scenario.state))


def run(
    session: Session,
    extent: Extent,
    scenario: Scenario,
    methods: dict[str, Method],
    trials: int,
    expected_sec: float,
    progress,
) -> dict[str, Trials]:
    """So many trials of each method, each with a waiter of its own: one way must not learn from
    the errors of another."""
    ways = {name: (method, new_waiter()) for name, method in methods.items()}
    return slices(session, extent, scenario, ways, trials, expected_sec, progress)


def slices(session, extent, scenario, ways, trials, expected_sec, progress) -> dict[str, Trials]:
    """With waiters that are there already. Blocks are whole, so there may be a few trials less."""
    wanted = max(1, trials // scenario.trials)
    rounds = min(extent.rounds, wanted)
    blocks = Blocks(wanted // rounds, scenario.trials, scenario.state, extent.idle_ns)
    found: dict[str, list[Trials]] = {name: [] for name in ways}
    for turn in bounded(rounds, expected_sec):
        for name, part in turns(session, ways, scenario.ahead_ns, blocks).items():
            found[name].append(part)
        progress((turn + 1) / rounds)
    return {name: joined(parts) for name, parts in found.items()}
