# SPDX-License-Identifier: MIT
"""The vectors of spec/timeline.md: folders, and what a reader has to say of ticks."""

from dataclasses import replace

import model
import timeline_model as tm

GAP, EARLY, LATE = "TIMEBASE_E_GAP", "TIMEBASE_E_TOO_EARLY", "TIMEBASE_E_TOO_LATE"
AMBIGUOUS, NO_BOOT = "TIMEBASE_E_AMBIGUOUS", "TIMEBASE_E_NO_BOOT"
BOOTS = [bytes(range(16)), bytes(range(100, 116))]
PERIOD = 0x5555555555555555  # 3 GHz
INTERVAL, LEAD, DURATION = 750_000_000, 90_000_000, 225_000_000
UTC = 1_700_000_000_000_000_000


def moved(line, start, utc_step_ns=0, **changes):
    """The line that goes on from where `line` is at `start`."""
    d = start - line.start_ticks
    elapsed = d * line.period >> 64
    times = {"mono_ns": line.mono_ns + elapsed, "utc_ns": line.utc_ns + elapsed + utc_step_ns}
    return replace(line, start_ticks=start, **times, **changes)


def first(ticks, mono_ns=5_000_000_000):
    line = model.Line(ticks, mono_ns, mono_ns + UTC, PERIOD, 2, 1000, 70_000, 700_000, 400_000)
    return tm.Publication(ticks + 100, line, line, line)


def following(last, number, lead=LEAD, utc_step_ns=0):
    """The next publication, as a discipline might have made it."""
    ticks = last.ticks + INTERVAL
    slope = PERIOD // 100_000 * (number % 7 - 3)
    shared = {
        "flags": 0x250012 if number % 2 else 0x250013,
        "utc_maxerror_ns": 300_000 + number * 1001,
    }
    before = replace(last.after, maxerror_ns=1500 + number + abs(utc_step_ns), **shared)
    new = {"utc_step_ns": utc_step_ns, "drift_rate": 70_000 + number, **shared}
    slew = moved(before, ticks + lead, period=PERIOD + slope, maxerror_ns=900 + number, **new)
    end = slew.start_ticks + DURATION
    after = moved(slew, end, period=PERIOD + number, maxerror_ns=800 + number)
    return tm.Publication(ticks, before, slew, after)


def series(start, count):
    found = [start]
    for number in range(1, count):
        found.append(following(found[-1], number))
    return found


def probes(publications, last_ticks):
    """(ticks, publication) around every change of lines, up to last_ticks."""
    for at, publication in enumerate(publications):
        is_last = at + 1 == len(publications)
        end = last_ticks + 1 if is_last else publications[at + 1].ticks
        edges = (
            publication.ticks,
            publication.slew.start_ticks,
            publication.after.start_ticks,
            end,
        )
        for ticks in sorted({e + d for e in edges for d in (-1, 0, 1)}):
            if publication.ticks <= ticks < end:
                yield ticks, publication


def read(boot, ticks, publication=None, error=None):
    entry = {"boot": boot.hex() if boot else None, "ticks": str(ticks & model.U64)}
    if error:
        return {**entry, "error": error}
    told = publication.at(ticks & model.U64)
    keys = ("mono_ns", "utc_ns", "maxerror_ns", "utc_maxerror_ns", "flags")
    return {**entry, **{key: told[key] for key in keys}}


def lease_end(publication):
    return publication.ticks + tm.lease_ticks(publication.after)


def one_run():
    """one run in two segments, and a torn end"""
    writer = tm.Writer(sequence=2**32 - 4)
    writer.boot = BOOTS[0]
    run = series(first(10_000), 6)
    run.append(following(run[-1], 6, utc_step_ns=-1_500_000_000))
    run.append(following(run[-1], 7, lead=-3_000_000))  # published late
    writer.segment()
    writer.mark(tm.BEGIN)
    writer.three(run[0])
    for publication in run[1:4]:
        writer.one(publication)
    writer.segment()
    writer.three(run[4])
    for publication in run[5:]:
        writer.one(publication)
    writer.tear(57)
    end = lease_end(run[-1])
    reads = [read(None, ticks, found) for ticks, found in probes(run, end)]
    reads += [read(None, run[0].ticks - 1, error=EARLY), read(None, end + 1, error=LATE)]
    reads.append(read(BOOTS[1], run[0].ticks, error=NO_BOOT))
    return writer.files, reads


def gaps():
    """a disruption, lines that were lost, and a writer that took up the page"""
    writer = tm.Writer()
    writer.boot = BOOTS[0]
    writer.segment()
    writer.mark(tm.BEGIN)
    runs = [series(first(-(2**31)), 3)]
    runs.append(series(first(runs[0][-1].ticks + 5 * INTERVAL), 3))
    held = runs[1][-1].ticks + 2 * INTERVAL
    runs.append(series(first(held + 5 * INTERVAL), 3))
    taken_up = following(runs[2][-1], 3)
    for run, mark in zip(runs, ((tm.DISRUPTION,), (tm.LOST, held), (tm.END,))):
        writer.three(run[0])
        for publication in run[1:]:
            writer.one(publication)
        writer.mark(*mark)
    runs[2].append(taken_up)
    writer.mark(tm.BEGIN)
    writer.three(taken_up)
    ends = (runs[0][-1].ticks, held - 1, lease_end(taken_up))
    reads = []
    for run, end, after in zip(runs, ends, (GAP, GAP, LATE)):
        reads += [read(None, ticks, found) for ticks, found in probes(run, end)]
        reads.append(read(BOOTS[0], end + 1, error=after))
    return writer.files, reads


def lost_at_the_begin():
    """a writer that could not write its first lines; of the one before it nobody knows"""
    writer = tm.Writer()
    writer.boot = BOOTS[0]
    writer.segment()
    start = 2**64 - 2**40  # such ticks lie before 0, modulo 2^64
    runs = [series(first(start), 3)]
    runs.append(series(first(runs[0][-1].ticks + 5 * INTERVAL), 3))
    for run, reason in zip(runs, (tm.BEGIN, tm.LOST)):
        writer.mark(reason)
        writer.three(run[0])
        for publication in run[1:]:
            writer.one(publication)
    reads = []
    for run, after in zip(runs, (GAP, LATE)):
        end = lease_end(run[-1])
        reads += [read(None, ticks, found) for ticks, found in probes(run, end)]
        reads.append(read(BOOTS[0], end + 1, error=after))
    return writer.files, reads


def two_boots():
    """two boots that count through the same ticks"""
    writer = tm.Writer()
    runs = [series(first(1000), 6), series(first(2000, 1_000_000_000), 2)]
    for boot, run in zip(BOOTS, runs):
        writer.boot = boot
        if not writer.files:
            writer.segment()
        writer.mark(tm.BEGIN)
        writer.three(run[0])
        for publication in run[1:]:
            writer.one(publication)
    reads = []
    for boot, run in zip(BOOTS, runs):
        reads += [read(boot, ticks, found) for ticks, found in probes(run, lease_end(run[-1]))]
    reads.append(read(None, runs[1][0].ticks, error=AMBIGUOUS))
    reads.append(read(None, runs[0][4].ticks, error=AMBIGUOUS))
    reads.append(read(None, runs[0][0].ticks, runs[0][0]))
    return writer.files, reads


CASES = (one_run, gaps, two_boots, lost_at_the_begin)
