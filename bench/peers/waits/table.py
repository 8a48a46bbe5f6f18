# SPDX-License-Identifier: MIT
"""The results as Markdown."""

from waits.catalogue import BY_NAME, FOOTNOTES, NOTHING, OURS
from waits.rules import percentile
from waits.summary import QUIET, SHARES

SLEEPING_NS = 10_000  # who is that far off has slept, and is no measure for who polls


def duration(ns):
    """200 -> "200 ns", 1000000 -> "1 ms"."""
    for unit, size in (("ms", 1_000_000), ("µs", 1000)):
        if ns >= size and ns % size == 0:
            return f"{ns // size} {unit}"
    return f"{ns} ns"


def figure(ns):
    """Three digits or so, in ns or, from 10,000 on, in µs."""
    if abs(ns) >= 10_000:
        return f"{ns / 1000:,.0f} µs" if abs(ns) >= 100_000 else f"{ns / 1000:.1f} µs"
    return f"{ns:,.0f}" if abs(ns) >= 100 else f"{ns:.1f}"


def target(row):
    """What was asked for."""
    said = duration(row["asked_ns"])
    quiet = ", core quiet" if row["subset"] == QUIET else ""
    return f"each {said}" if row["kind"] == "period" else f"{said}{quiet}"


def call(row):
    """What was called for it; ours in bold."""
    waiter = BY_NAME[row["name"]]
    text = waiter.until if row["kind"] == "period" else waiter.call
    return f"**{text}**" if row["name"].startswith(OURS) else text


def share(value):
    """As percent; a dash where nobody knows."""
    return "–" if value is None else f"{value:.0%}"


def worst(row):
    """The highest quantile of |error| that the row can carry: what rows are sorted by."""
    return next(
        (row[f"raw_{name}_ns"] for name in ("p99", "p95", "p90") if row[f"raw_{name}_ns"]),
        abs(row["bias_ns"]),
    )


def rows_in_order(results):
    """By target, and by the 99th percentile of |error| within it."""
    rows = [row for row in results["rows"] if row["name"] != NOTHING]
    return sorted(rows, key=lambda row: (row["kind"], row["asked_ns"], row["subset"], worst(row)))


def quantiles(row, prefix):
    """p50 / p90 / p95 / p99 / p99.9, with a dash for what so few trials cannot carry."""
    found = (row[f"{prefix}{name}_ns"] for name in SHARES)
    return " / ".join(percentile.DASH if ns is None else figure(ns) for ns in found)


def error_rows(results):
    """The table of all errors: as they are, then the bias, then what is about the median."""
    shown = "p50 / p90 / p95 / p99 / p99.9"
    yield (
        f"| asked for | call | language | n | \\|error\\|: {shown} | bias | about the median:"
        f" {shown} | CPU | shared | clock steps |"
    )
    yield "|---|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows_in_order(results):
        bias = figure(row["bias_ns"])
        yield (
            f"| {target(row)} | {call(row)} | {BY_NAME[row['name']].language} |"
            f" {row['trials']:,} | {quantiles(row, 'raw_')} |"
            f" {bias if bias.startswith('-') else '+' + bias} | {quantiles(row, '')} |"
            f" {share(row['cpu_share'])} | {share(row['busy_share'])} | {steps(row)} |"
        )


def steps(row):
    """Of how many chunks."""
    if row["clock_steps"] is None:
        return percentile.DASH
    return f"{row['clock_steps']:,} of {row['chunks']:,}"


def ratio_lines(results):
    """The tail of our delays beside that of others, where the core was quiet."""
    rows = {
        (row["asked_ns"], row["name"]): row["raw_p99_ns"]
        for row in results["rows"]
        if row["kind"] == "delay" and row["subset"] == QUIET and row["raw_p99_ns"]
    }
    for asked_ns in sorted({asked for asked, name in rows if name != NOTHING}):
        ours = rows.get((asked_ns, "timebase_exact"))
        others = [
            f"{BY_NAME[name].call} {figure(ns)} ({ours / ns:.2g})"
            for (asked, name), ns in sorted(rows.items())
            if ours
            and asked == asked_ns
            and name != NOTHING
            and ns < SLEEPING_NS
            and not name.startswith(OURS)
        ]
        if others:
            yield (
                f"Delay of {duration(asked_ns)}, core quiet, p99 of \\|error\\|: ours {figure(ours)};"
                f" others, and ours as a part of theirs: {', '.join(others)}."
            )


def machine_line(results):
    """The machine in one line, before any number."""
    machine = results["machine"]
    tools = "; ".join(filter(None, machine["toolchain"].values()))
    peers = ", ".join(f"{name} {version}" for name, version in machine["peers"].items()) or "none"
    return (
        f"Machine: {machine['cpu_model']}, {machine['cpus']} CPUs, Linux {machine['kernel']},"
        f" counter {results['counter_mhz']:.3f} MHz in steps of"
        f" {results['stopwatch']['step_ns']:.3g} ns, load average"
        f" {machine['load_average']:.2f} at start, {machine['date']},"
        f" commit {machine['commit']}. Tools: {tools}."
        f" Peers: {peers}."
    )


def width_line(results):
    """How well the stopwatch itself can tell."""
    watch = results["stopwatch"]
    later = watch["after_1_ms"]
    nothing = next(row for row in results["rows"] if row["name"] == NOTHING)
    how = "several readings of the counter for an instant" if watch["fine"] else "plain readings"
    return (
        f"Stopwatch: {how}, good to ± {watch['bound_ns']:.2f} ns on average; around nothing,"
        f" its errors are {quantiles(nothing, 'raw_')} (p50 / p90 / p95 / p99 / p99.9): no row can be"
        f" seen to be better. Its own {watch['delay_cost_ns']:.0f} ns are subtracted. After a wait of"
        f" 1 ms it is late by {quantiles(later, 'raw_')} itself, because its code has gone cold, as"
        " the caller's would: that is in the rows of long waits."
    )


def run_line(results):
    """How it was run, and what was not."""
    granted = ", ".join(results["granted"]) or "nothing"
    text = (
        f"{results['rounds']} interleaved rounds on CPU {results['cpu']}, one thread for all;"
        f" granted to it: {granted}."
    )
    if results["refused"]:
        text += f" Refused: {'; '.join(results['refused'])}."
    for title, reason in results["left_out"].items():
        text += f" Left out: {title}, {reason}."
    return text


def markdown(results):
    """The whole page."""
    core = results["core"]
    heading = (
        "Errors in ns, or as named: actual less asked for, over all trials. `bias` is the median with"
        " its sign, late positive; before it quantiles of |error| as it is, behind it of the distance"
        " from the median. A dash: too few trials for this quantile; n of them there are. `CPU`:"
        " share of the time that the thread was on it, the stopwatch included. `shared`: trials in"
        " chunks of 50 before and after which the core made less than"
        f" {core['busy_below']:.0%} of {core['additions_per_cycle']:.2f} independent additions in a"
        " cycle, so somebody else used it; `core quiet`: those of chunks with neither. `clock steps`:"
        " chunks during which the core's clock changed."
    ).replace("|", "\\|")
    lines = [machine_line(results), run_line(results), width_line(results), heading]
    parts = [*lines, "\n".join(error_rows(results)), *ratio_lines(results), *FOOTNOTES]
    return "\n\n".join(parts) + "\n"
