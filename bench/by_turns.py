# SPDX-License-Identifier: MIT
"""Is a change to waits one for the better? `.venv/bin/python bench/by_turns.py [waits|delays]`

This build's waits or delays beside the naive loop and, with --against, beside other builds or
commits of the library: in one process, in blocks that take turns, so that what the machine does
meanwhile meets all of them. All trials count. The tables of docs/decisions/0004 and
0023 to 0025 come from it:

    by_turns.py waits --against HEAD~1            near waits, this tree and the commit before
    by_turns.py waits --from 20000 --to 100000
    by_turns.py waits --work lines                that come between lines of text to be formatted
    by_turns.py waits --work memory --from 4000 --to 14000
    by_turns.py waits --work pause --beside      and another program walks through memory beside it
    by_turns.py delays --from 200 --to 200 --work memory-series --positions
    by_turns.py delays --from 100000 --to 100000 --counter
    by_turns.py waits --biases --processes 30 --blocks 30    what differs from one calibration to the next

"about the median" (of its process) and raw are quantiles of |error|, in nanoseconds; the mean is of the middle three
quarters. "nothing" is the stopwatch alone, and what it leaves open is a part of every other row: a
fine reading's code is cold after a long wait. With --counter it is one reading of the counter, whose
step is in all quantiles, but not in the mean. "loop" is the caller's own; "loop, called" of delays is
that loop in a library, as other people's are.

The stopwatch and each way have a copy of their library, and where one lies in memory decides how late
it is by cold code: behind 8 MiB p90 was 8, 28 and 32 ns for the same library three times. So there are
several processes, each with new copies, in another order, and all trials are in one table; a library
that is named twice tells what is left. With --biases the table is of the processes' medians: what a
calibration of waiters or of the stopwatch got wrong is in all rows, the loop's too.
"""

import argparse
import contextlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "bench/by_turns"
HERE = ROOT / "build/native/libtimebase.so.1"
BUILDS = ROOT / "build/by-turns"
QUANTILES = (0.5, 0.9, 0.95, 0.99)
FIRST_ONES = 3  # of a block, shown by themselves with --positions
KINDS = {
    "waits": ("exact", "steady", "plain", "result", "plain_result", "call", "plain_call"),
    "delays": ("delay", "delay_steady", "delay_plain", "delay_after_empty"),
}
MORE_KINDS = ("never_early", "never_early_call", "never_early_result")  # of waits, if asked for
LOOPS = {"waits": "loop", "delays": "delay_loop"}
WORK = ("lines", "memory", "pause", "memory-series", "pause-series")
RANGE_NS = {"waits": (250, 2000), "delays": (200, 1000)}


def library_of(what):
    """A file; or a commit, which is built once, in a folder of its own."""
    if Path(what).is_file():
        return Path(what).resolve()
    git = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--verify", "--quiet", f"{what}^{{commit}}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if git.returncode != 0:
        sys.exit(f"bench/by_turns.py: {what} is neither a library nor a commit")
    folder = BUILDS / git.stdout.strip()[:12]
    if not (folder / "build/libtimebase.so.1").exists():
        build(git.stdout.strip(), folder)
    return folder / "build/libtimebase.so.1"


def build(commit, folder):
    folder.mkdir(parents=True, exist_ok=True)
    tree = subprocess.run(
        ["git", "-C", ROOT, "archive", commit], check=True, capture_output=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=tree, check=True)
    options = (
        "--buildtype=debugoptimized",
        "-Dcommand=disabled",
        "-Dtests=false",
        "-Dexamples=false",
    )
    for command in (
        ["meson", "setup", *options, "build"],
        ["ninja", "-C", "build", "libtimebase.so.1"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"bench/by_turns.py: {commit} does not build:\n{done.stdout}{done.stderr}")


def compiled(program, called_loop):
    """The program of the trials, and the library with the loop that is called."""
    command = ["cc", "-O2", "-I", ROOT / "include"]
    linked = ["-L", HERE.parent, "-ltimebase", f"-Wl,-rpath,{HERE.parent}", "-ldl"]
    subprocess.run(
        [*command, "-o", program, SOURCES / "trials.c", SOURCES / "work.c", *linked], check=True
    )
    loop = ["-shared", "-fPIC", "-o", called_loop, SOURCES / "called_loop.c"]
    subprocess.run([*command, *loop], check=True)


def ways(options, called_loop):
    """(name for people, kind, library or none)"""
    libraries = {"this tree": HERE} | {what: library_of(what) for what in options.against}
    yield "nothing", "nothing", None
    yield "loop", LOOPS[options.what], None
    if options.what == "delays":
        yield "loop, called", "delay_loop_called", called_loop
    for name, library in libraries.items():
        for kind in options.kind or KINDS[options.what]:
            yield f"{kind}, {name}", kind, library


def copied(library, folder, name):
    """A file of its own, which shares no memory with others: what two ways or the stopwatch have
    in common would be warm for them alone."""
    return shutil.copy(library, folder / f"{name}.so")


def chosen(all_ways, folder):
    """For the program."""
    for number, (_, kind, library) in enumerate(all_ways):
        yield kind if library is None else f"{kind}={copied(library, folder, number)}"


def range_of(options):
    usual = RANGE_NS[options.what]
    return [
        str(given or ns) for given, ns in zip((options.least, options.most), usual, strict=True)
    ]


def process(program, options, all_ways, folder):
    """The lines of one."""
    stopwatch = "counter" if options.counter else "fine"
    asked = [str(options.blocks), *range_of(options), stopwatch, copied(HERE, folder, "stopwatch")]
    asked += [options.work or "nothing", *chosen(all_ways, folder)]
    done = subprocess.run([program, *asked], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)  # it has said why
    return done.stdout.splitlines()


def trials(program, options, all_ways):
    """For each way, (position in its block, error in ns), of one process."""
    order = random.sample(range(len(all_ways)), len(all_ways))
    found = [[] for _ in all_ways]
    with tempfile.TemporaryDirectory() as folder:
        in_order = [all_ways[way] for way in order]
        for line in process(program, options, in_order, Path(folder)):
            way, position, error = line.split()
            found[order[int(way)]].append((int(position), float(error)))
    return found


@contextlib.contextmanager
def neighbour(program, is_wanted):
    """What shares caches with the trials, on the CPU before theirs, walks through 64 MiB."""
    if not is_wanted:
        yield
        return
    with subprocess.Popen([program, "walk"]) as walker:
        try:
            yield
            if walker.poll() is not None:
                sys.exit(walker.returncode)  # it has said why
        finally:
            walker.terminate()


def quantiles(errors):
    sizes = sorted(abs(error) for error in errors)
    return [sizes[min(len(sizes) - 1, int(share * len(sizes)))] for share in QUANTILES]


def middle_mean(errors):
    ordered, cut = sorted(errors), len(errors) // 8
    return statistics.fmean(ordered[cut : len(ordered) - cut])


def about_medians(runs):
    """Of each process its own: what calibrations differ by is in the raw errors."""
    for errors in runs:
        median = statistics.median(errors)
        yield from (error - median for error in errors)


def row(name, runs):
    errors = [error for of_run in runs for error in of_run]
    median, mean = statistics.median(errors), middle_mean(errors)
    cells = [f"{value:.1f}" for value in (*quantiles(about_medians(runs)), *quantiles(errors))]
    about, raw = " / ".join(cells[:4]), " / ".join(cells[4:])
    return f"| {name} | {len(errors)} | {median:+.1f} | {mean:+.1f} | {about} | {raw} |"


def rows(name, runs, by_position):
    yield row(name, [[error for _, error in of_run] for of_run in runs])
    for first in range(FIRST_ONES if by_position else 0):
        at_first = [[e for at, e in of_run if at == first] for of_run in runs]
        yield row(f"… number {first + 1} of a block", at_first)


def bias_row(name, medians):
    """Of the processes: least, 10 %, middle, 90 %, most."""
    ordered = sorted(medians)
    places = (share * (len(ordered) - 1) for share in (0, 0.1, 0.5, 0.9, 1))
    return f"| {name} | " + " / ".join(f"{ordered[round(at)]:+.1f}" for at in places) + " |"


def print_biases(names, runs):
    print(f"| way | bias, {len(runs)} processes: least / p10 / p50 / p90 / most |")
    print("|---|--:|")
    for name, *of_way in zip(names, *runs, strict=True):
        print(bias_row(name, [statistics.median(e for _, e in of_run) for of_run in of_way]))


def print_errors(names, runs, by_position):
    print("| way | n | median | mean | about the median: p50 / p90 / p95 / p99 | raw: the same |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, *of_way in zip(names, *runs, strict=True):
        print("\n".join(rows(name, of_way, by_position)))


def options_given():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=KINDS, nargs="?", default="waits")
    parser.add_argument("--against", action="append", default=[], metavar="COMMIT|LIBRARY")
    parser.add_argument("--kind", action="append", choices=sum(KINDS.values(), MORE_KINDS))
    parser.add_argument("--from", dest="least", type=float, metavar="NS", help="targets, or delays")
    parser.add_argument("--to", dest="most", type=float, metavar="NS")
    parser.add_argument("--blocks", type=int, default=50, help="of 50 trials, in each process")
    parser.add_argument("--processes", type=int, default=4, help="one after another")
    parser.add_argument("--biases", action="store_true", help="of the processes, by their order")
    parser.add_argument("--counter", action="store_true", help="one reading as the stopwatch")
    parser.add_argument(
        "--work",
        choices=WORK,
        help="of the program between trials; -series: before each 50 of them",
    )
    parser.add_argument("--beside", action="store_true", help="a program that uses the next CPU")
    parser.add_argument("--positions", action="store_true", help="the first of each block, too")
    return parser.parse_args()


def main():
    options = options_given()
    with tempfile.TemporaryDirectory() as folder:
        program, called_loop = Path(folder) / "trials", Path(folder) / "called_loop.so"
        all_ways = list(ways(options, called_loop))
        compiled(program, called_loop)
        with neighbour(program, options.beside):
            runs = [trials(program, options, all_ways) for _ in range(options.processes)]
    names = [name for name, _, _ in all_ways]
    if options.biases:
        print_biases(names, runs)
    else:
        print_errors(names, runs, options.positions)


if __name__ == "__main__":
    main()
