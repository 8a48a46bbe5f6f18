# SPDX-License-Identifier: MIT
"""The results as Markdown."""

from waits.catalogue import BY_NAME, FOOTNOTES, NOTHING, OURS


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
    if row["kind"] == "period":
        return f"each {duration(row['asked_ns'])}"
    return duration(row["asked_ns"])


def call(row):
    """What was called for it; ours in bold."""
    waiter = BY_NAME[row["name"]]
    text = waiter.until if row["kind"] == "period" else waiter.call
    return f"**{text}**" if row["name"].startswith(OURS) else text


def share(value):
    """As percent; a dash where nobody knows."""
    return "–" if value is None else f"{value:.0%}"


def rows_in_order(results):
    """By target, and by the 99th percentile within it."""
    rows = [row for row in results["rows"] if row["name"] != NOTHING]
    return sorted(rows, key=lambda row: (row["kind"], row["asked_ns"], row["p99_ns"]))


def error_rows(results):
    """The table of all errors."""
    yield "| asked for | call | language | bias, ns | p50 | p90 | p99 | p99.9 | CPU | trials |"
    yield "|---|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows_in_order(results):
        quantiles = " | ".join(figure(row[f"{name}_ns"]) for name in ("p50", "p90", "p99", "p999"))
        bias = figure(row["bias_ns"])
        yield (
            f"| {target(row)} | {call(row)} | {BY_NAME[row['name']].language} |"
            f" {bias if bias.startswith('-') else '+' + bias} | {quantiles} |"
            f" {share(row['cpu_share'])} | {row['trials']:,} |"
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
        f" its errors are {figure(nothing['p50_ns'])} ns (p50), {figure(nothing['p90_ns'])} ns"
        f" (p90), {figure(nothing['p99_ns'])} ns (p99) and {figure(nothing['p999_ns'])} ns"
        " (p99.9): no row can be seen to be better. Its own"
        f" {watch['delay_cost_ns']:.0f} ns are subtracted. After a wait of 1 ms it is late by"
        f" {figure(later['p50_ns'])} ns (p50) and {figure(later['p90_ns'])} ns (p90) itself, because"
        " its code has gone cold, as the caller's would: that is in the rows of long waits."
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
    heading = (
        "Errors in ns, or as named: actual less asked for. `bias` is the median with its sign, late"
        " positive; the others are quantiles of the distance, over all trials. `CPU`: share of the"
        " time that the thread was on it, the stopwatch included."
    )
    lines = [machine_line(results), run_line(results), width_line(results), heading]
    return "\n\n".join([*lines, "\n".join(error_rows(results)), *FOOTNOTES]) + "\n"
