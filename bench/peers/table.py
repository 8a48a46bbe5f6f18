# SPDX-License-Identifier: MIT
"""Turns the results into the Markdown that the README quotes."""

from catalogue import CLOCKS, FOOTNOTES


def machine_line(results):
    """The machine in one line, before any number."""
    machine = results["machine"]
    tools = "; ".join(machine["toolchain"].values())
    peers = ", ".join(f"{name} {version}" for name, version in machine["peers"].items())
    return (
        f"Machine: {machine['cpu_model']}, {machine['cpus']} CPUs, Linux {machine['kernel']},"
        f" clocksource {machine['clocksource']}, counter {machine['tsc_mhz']:.3f} MHz,"
        f" load average {machine['load_average']:.2f} at start, {machine['date']}, commit {machine['commit']}."
        f" Tools: {tools}. Peers: {peers}."
    )


def cost_rows(rows):
    """The cost table, cheapest first."""
    yield "| call | language | gives | ordered | min ns | median ns | p90 ns | median / counter |"
    yield "|---|---|---|---|---:|---:|---:|---:|"
    for row in sorted(rows, key=lambda each: each["median_ns"]):
        fell = " (gave up the counter here)" if row["fell_back"] else ""
        bold = "**" if row["name"].startswith("timebase") else ""
        yield (
            f"| {bold}{row['call']}{bold}{fell} | {row['language']} | {row['gives']} |"
            f" {'yes' if row['ordered'] else 'no'} | {row['min_ns']:.2f} |"
            f" {row['median_ns']:.2f} | {row['p90_ns']:.2f} | {row['ratio_to_counter']:.2f} |"
        )


def remark(clock, row):
    """What a reader must know about this row."""
    fell = "fell back to the kernel's clock" if row["fell_back"] else ""
    return "; ".join(filter(None, (clock.note, fell)))


def clock_rows(results):
    """The start-up and error table."""
    marks = results["marks_s"]
    heads = "".join(f" error after {mark} s, ns |" for mark in marks)
    yield f"| clock | language | start-up median ms | max ms |{heads} ± ns | against | remark |"
    yield "|---|---|---:|---:|" + "---:|" * (len(marks) + 1) + "---|---|"
    none = " – |" * len(marks)
    for clock, row in zip(CLOCKS, results["clocks"]):
        errors = row.get("errors", [])
        cells = "".join(f" {each['error_ns']:+d} |" for each in errors) or none
        half = max(each["width_ns"] for each in errors) // 2 if errors else "–"
        against = clock.reference if errors else "–"
        yield (
            f"| {clock.name} | {clock.language} | {row['startup_median_ns'] / 1e6:.2f} |"
            f" {row['startup_max_ns'] / 1e6:.2f} |{cells} {half} |"
            f" {against} | {remark(clock, row)} |"
        )


def markdown(results):
    """The whole page."""
    cost, startup = results["cost_run"], results["empty_program_ns"]
    entries = ", ".join(f"{name} {ns:.0f} ns" for name, ns in cost["batch_entry_ns"].items())
    empty = ", ".join(f"{name} {ns / 1e6:.2f} ms" for name, ns in startup.items())
    about_cost = (
        f"Cost of a call: {cost['rounds']} interleaved rounds of"
        f" {cost['calls_per_batch']} calls, one process, CPU {cost['cpu']}. Subtracted per"
        f" batch: {entries}."
    )
    about_clocks = (
        f"Start-up ({results['launches']} launches each, less an empty program:"
        f" {empty}) and error (clock - reference; ± is half the widest sandwich)."
    )
    paragraphs = [
        machine_line(results),
        about_cost,
        "\n".join(cost_rows(results["rows"])),
        about_clocks,
        "\n".join(clock_rows(results)),
        *FOOTNOTES,
    ]
    return "\n\n".join(paragraphs) + "\n"
