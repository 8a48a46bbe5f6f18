# SPDX-License-Identifier: MIT
"""What the lines of an emulated machine must hold. Each function gives faults, in words.

Exact machines (QEMU with -icount, Bochs) have a counter that counts instructions, or nearly so. What
only hardware can show, they must say is not shown.
"""

from lab.log import of_kind

EXPERIMENTS = ["loop", "table", "dispatch", "wait", "calendar", "smi"]
NEAR_NS = 100
APIC_TICKS, APIC_ERROR = 100_000, 5
# Their results are this machine's caches and latencies, which an emulator has not.
HARDWARE = ["dispatch", "wait", "calendar", "smi"]


def ended(lines):
    """Every experiment came to its end, and nothing was a fault."""
    done = [line["experiment"] for line in of_kind(lines, "done")]
    if done != EXPERIMENTS:
        yield f"experiments that ended: {done}"
    for line in of_kind(lines, "fault"):
        yield f"a fault: {line['text']}"


def not_shown(lines):
    """What an emulator cannot show is marked."""
    if not of_kind(lines, "machine")[0]["emulated"]:
        yield "the machine does not know that it is emulated"
    for line in lines:
        hidden = line["kind"] in HARDWARE or line.get("cache") == "off"
        if hidden and line["shown"] is not False:
            yield f"line {line['line']}, {line['kind']}: shown, by an emulator"


def frequency(lines, hz, devices=("pit", "pm_timer", "hpet")):
    for device in devices:
        for line in of_kind(lines, "frequency", by=device):
            if not line["hz_low"] <= hz <= line["hz_high"]:
                yield f"{device}: {hz} Hz is not within {line['hz_low']} to {line['hz_high']}"
    found = {line["by"] for line in of_kind(lines, "frequency")}
    if not set(devices) <= found:
        yield f"frequency by {sorted(found)} only"


def apic_counts(lines):
    """100,000 of the APIC's ticks are as many of the counter's, and the interrupt's entry."""
    for line in of_kind(lines, "apic_count"):
        wrong = [t for t in line["elapsed_ticks"] if abs(t - APIC_TICKS) > APIC_ERROR]
        if wrong or len(line["elapsed_ticks"]) != 16:
            yield f"100,000 ticks of the APIC: {line['elapsed_ticks']}"


def loops(lines, not_there=()):
    """The error falls by one for each tick that the target is further, and jumps by a period."""
    for line in of_kind(lines, "loop"):
        errors = line["errors_ticks"]
        if line["reading"] in not_there:
            if errors or line["shown"]:
                yield f"{line['reading']}: errors of a reading that is not there"
            continue
        period = max(errors) - min(errors) + 1
        steps = {later - earlier for earlier, later in zip(errors, errors[1:])}
        if len(errors) != 256 or min(errors) < 0 or not steps <= {-1, period - 1}:
            yield f"{line['reading']}: no saw-tooth of {period} ticks: {errors[:20]}"
    for line in of_kind(lines, "alignments"):
        for name in ("lows_ticks", "medians_ticks", "highs_ticks"):
            if len(line[name]) != 64 or len(set(line[name])) != 1:
                yield f"alignment matters to an emulator: {line[name]}"


def table(lines):
    """The table takes the saw-tooth away, but for a tick."""
    for cache in ("on", "off"):
        without, with_table = (
            of_kind(lines, "table", table=has, cache=cache)[0]["errors_ticks"]
            for has in (False, True)
        )
        if max(with_table) - min(with_table) > 1 or max(with_table) >= max(without):
            yield f"the table does not help, cache {cache}: {without[:10]} {with_table[:10]}"
    places = of_kind(lines, "table_places")
    if [line["learnt"] for line in places] != ["once", "each", "once"]:
        yield f"tables at all places: {[line['learnt'] for line in places]}"
    for line in places:
        if max(line["highs_ticks"]) - min(line["lows_ticks"]) > 1:
            yield f"the place of the code matters to an emulator: {line}"


def dispatch(lines, modes, halt_ticks=0):
    """Interrupts come after so many instructions, always the same; out of a halt within what the
    emulator lets its time jump by."""
    seen = of_kind(lines, "dispatch")
    if {line["mode"] for line in seen} != set(modes):
        yield f"modes {sorted({line['mode'] for line in seen})}"
    for line in seen:
        errors, what = line["errors_ticks"], f"{line['mode']}, {line['background']}"
        slack = halt_ticks if line["background"] == "halt" else 0
        most = slack if line["mode"] == "periodic" else 100
        if len(errors) != 16 or not -slack <= min(errors) <= max(errors) <= most:
            yield f"{what}: {errors}"


def waits(lines):
    """Those from the interrupt on have slept, and all have been counted."""
    for line in of_kind(lines, "wait"):
        if len(line["errors_ns"]) != 16:
            yield f"{line['way']}: {len(line['errors_ns'])} waits"
    slept = [line["slept"] for line in of_kind(lines, "wait", way="from_interrupt")]
    if not slept or slept[0] == 0:
        yield "no wait has slept until its interrupt"


def waits_in_time(lines):
    """At an instruction a nanosecond the loop comes this close. Exact waits were not tried: a poll
    takes longer than the longest run, so some would be late, and the loop instead is disturbed."""
    for line in of_kind(lines, "wait"):
        if line["late"] or line["disturbed"]:
            yield f"{line['way']}: {line['late']} late, {line['disturbed']} disturbed"
        near = [error for error in line["errors_ns"] if abs(error) < NEAR_NS]
        if 2 * len(near) < len(line["errors_ns"]):
            yield f"{line['way']}: {line['errors_ns']}"


def calendar(lines):
    """No release is lost; the unit that never ends is stopped whenever it was begun."""
    for line in of_kind(lines, "calendar"):
        expected = line["released"] if line["unit"] == "hangs" else 0
        if line["released"] + line["skipped"] != 50 or line["timed_out"] != expected:
            yield f"unit {line['unit']}: {line}"
    if not of_kind(lines, "calendar", unit="hangs")[0]["released"]:
        yield "the unit that never ends was never begun"
    if not of_kind(lines, "admission")[0]["problems_of_two_at_once"]:
        yield "two units at once were admitted"


def calendar_in_time(lines):
    """At an instruction a nanosecond the 64-bit machine is fast enough for all of it. The unit that
    sleeps is late now and then, until its margin is learnt."""
    for line in of_kind(lines, "calendar"):
        late = line["late"] and line["unit"] != "send"
        if line["released"] != 50 or line["missed"] or late:
            yield f"unit {line['unit']}: {line}"


def clock(lines):
    """The servo kept the page by its reference to the end."""
    begin, end = of_kind(lines, "clock")[0], of_kind(lines, "clock_end")[0]
    if end["mono_ns"] <= begin["mono_ns"] or end["publications"] <= begin["publications"]:
        yield f"the clock stood still: {begin} {end}"
    if abs(end["offset_ns"]) > end["maxerror_ns"]:
        yield f"the clock was {end['offset_ns']} ns from its reference, outside of its bound"
    if end["disruptions"]:
        yield f"{end['disruptions']} disruptions of the counter"
