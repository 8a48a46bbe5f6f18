# SPDX-License-Identifier: MIT
"""The boots there are. Each gives faults, in words; none is good."""

from lab import machine, values
from lab.log import lines_of, of_kind

# QEMU's processor promises no invariant TSC, and has one CPU unless it is told otherwise.
LACKS = "without=invariant-tsc,cpus"
ICOUNT_HZ = 1_000_000_000
BOCHS_HZ = 50_000_000
BOCHS_HALT_TICKS = 32
QEMU_HALT_TICKS = 512  # a block of instructions; 92 have been seen
HALTED = b'"background":"halt"'
STICK_LINES = (2, 4)  # of platform/baremetal/grub.cfg: 64 and 32 bits, whatever the machine lacks
EXIT_DONE = 33


def exact(processor):
    """Twice the same until it halts, and every value that emulation can show is right."""
    logs = []
    for turn in ("first", "second"):
        status, log = machine.qemu(
            f"exact-{processor}-{turn}", processor, f"{LACKS} quick=yes", machine.EXACTLY
        )
        logs.append(log)
        if status != EXIT_DONE:
            yield f"the {turn} run ended with {status}"
        yield from exact_values(processor, lines_of(log))
    before = [log.partition(HALTED)[0] for log in logs]
    if before[0] != before[1] or HALTED not in logs[0]:
        yield "two runs differ before they halt"


def exact_values(processor, lines):
    yield from values.ended(lines)
    yield from values.not_shown(lines)
    yield from values.frequency(lines, ICOUNT_HZ)
    yield from values.apic_counts(lines)
    yield from values.loops(lines, not_there=("rdmsr",))  # TCG's MSR of the TSC stands still
    yield from values.table(lines)
    yield from values.dispatch(lines, ("periodic", "one_shot"), QEMU_HALT_TICKS)
    yield from values.waits(lines)
    yield from values.calendar(lines)
    yield from values.clock(lines)
    if processor == "x86_64":
        yield from values.waits_in_time(lines)
        yield from values.calendar_in_time(lines)


def real_time():
    """QEMU as it is: this machine's load is in all times, so only what is said of them is judged."""
    status, log = machine.qemu("real-time", "x86_64", f"{LACKS} quick=yes")
    if status != EXIT_DONE:
        yield f"it ended with {status}"
    lines = lines_of(log)
    yield from values.ended(lines)
    yield from values.not_shown(lines)


def bochs(processor):
    """Another emulator, by GRUB from an ISO: TSC deadlines and RDMSR, which TCG has not."""
    place = machine.folder(f"bochs-{processor}")
    machine.menu_iso(place, processor, f"{LACKS},hpet quick=yes")
    lines = lines_of(machine.bochs(place))
    yield from values.ended(lines)
    yield from values.not_shown(lines)
    yield from values.frequency(lines, BOCHS_HZ, ("hpet",))  # the others count in whole us
    yield from values.apic_counts(lines)
    yield from values.loops(lines)
    yield from values.table(lines)
    yield from values.dispatch(lines, ("periodic", "one_shot", "deadline"), BOCHS_HALT_TICKS)
    yield from values.waits(lines)
    yield from values.calendar(lines)


def bochs_stick():
    """The ISO as it goes onto a stick, with another firmware: the menu's first line."""
    place = machine.folder("bochs-stick")
    (place / "boot.iso").symlink_to(machine.ISO)
    yield from said("one CPU", lines_of(machine.bochs(place)))


def acpi_timer():
    """Without an HPET, and told to go on: the ACPI timer measures the counter and keeps the clock."""
    status, log = machine.qemu(
        "acpi-timer",
        "x86_64",
        f"{LACKS},hpet quick=yes only=calendar",
        ("-no-hpet", *machine.EXACTLY),
    )
    lines = lines_of(log)
    if status != EXIT_DONE:
        yield f"it ended with {status}"
    yield from values.frequency(lines, ICOUNT_HZ, ("pit", "pm_timer"))
    yield from values.calendar(lines)
    yield from values.clock(lines)
    if [line["reference"] for line in of_kind(lines, "clock")] != ["pm_timer"]:
        yield "another reference"


def firmware():
    """System management interrupts are counted, and the gaps that they make are seen."""
    status, log = machine.qemu(
        "firmware",
        "x86_64",
        f"{LACKS} quick=yes only=smi fault=smi",
        ("-cpu", "max,vendor=GenuineIntel"),
    )
    found = of_kind(lines_of(log), "smi")
    if status != EXIT_DONE or not found:
        yield f"it ended with {status}"
    elif not found[0]["counted"] or found[0]["smis"] != 8 or not found[0]["gaps"]:
        yield f"of 8 interrupts: {found[0]}"


# What the machine lacks or does, what QEMU is told, and what must be said.
FAULTS = {
    "no-invariant-tsc": ("", (), "no invariant TSC"),
    "one-cpu": ("without=invariant-tsc", (), "one CPU"),
    "no-hpet": (LACKS, ("-no-hpet",), "no HPET"),
    "no-apic": (LACKS, ("-cpu", "max,-apic"), "no APIC"),
    "no-rdtscp": (LACKS, ("-cpu", "max,-rdtscp"), "no RDTSCP"),
    "little-memory": (LACKS, ("-m", "8"), "too little memory"),
    "wild-interrupt": (f"{LACKS} fault=wild-interrupt", (), "wild interrupt"),
    "exception": (f"{LACKS} fault=exception", (), "invalid opcode"),
}


def fault(name, processor):
    """A line that says it, on the screen and in the log, and a halt."""
    append, more, text = FAULTS[name]
    what = (*machine.kernel(processor, append), *more)
    yield from stopped(text, *machine.qemu_halted(f"{name}-{processor}", what))


def stopped(text, screen, log):
    yield from said(text, lines_of(log))
    if f"stopped: {text}" not in screen:
        yield f"the screen: {screen.split()}"


def said(text, lines):
    """This fault, once, and no experiment."""
    texts = [line["text"] for line in of_kind(lines, "fault")]
    if len(texts) != 1 or not texts[0].startswith(text):
        yield f"the log says {texts}"
    if of_kind(lines, "done"):
        yield "it went on"


def no_serial(processor):
    """Nobody hears of it but who looks at the screen."""
    what = machine.kernel(processor, LACKS)
    screen, _ = machine.qemu_halted(f"no-serial-{processor}", what, has_serial=False)
    if "stopped: no serial port" not in screen:
        yield f"the screen: {screen.split()}"


def no_long_mode():
    """The 64-bit image on a 32-bit processor: too early for anything but a line by hand."""
    text = "has no 64-bit mode"
    what = (*machine.kernel("x86_64", LACKS), "-cpu", "qemu32")
    screen, log = machine.qemu_halted("no-long-mode", what)
    if text not in screen or text not in log.decode(errors="replace"):
        yield f"the log: {log!r}, the screen: {screen.split()}"


def stick_stopped():
    """The ISO as it goes onto a stick, and nobody at the keyboard: the menu's first line."""
    screen, log = machine.qemu_halted("stick-stopped", machine.CDROM)
    yield from stopped("no invariant TSC", screen, log)


def stick(line):
    """Another line of the ISO's menu, which waives what QEMU lacks: all of the run is there."""
    keys = ("down",) * (line - 1) + ("ret",)
    screen, log = machine.qemu_halted(f"stick-{line}", machine.CDROM, keys)
    lines = lines_of(log)
    yield from values.ended(lines)
    yield from values.not_shown(lines)
    if "All experiments have ended" not in screen:
        yield f"the screen: {screen.split()}"


def boots(is_quick):
    """Names and what to call, with arguments."""
    for processor in ("x86_64", "i686"):
        yield f"exact-{processor}", exact, (processor,)
        for name in FAULTS:
            yield f"{name}-{processor}", fault, (name, processor)
        yield f"no-serial-{processor}", no_serial, (processor,)
    yield "real-time", real_time, ()
    yield "acpi-timer", acpi_timer, ()
    yield "firmware", firmware, ()
    yield "no-long-mode", no_long_mode, ()
    yield "stick-stopped", stick_stopped, ()
    if not is_quick:
        for processor in ("x86_64", "i686"):
            yield f"bochs-{processor}", bochs, (processor,)
        yield "bochs-stick", bochs_stick, ()
        for line in STICK_LINES:
            yield f"stick-{line}", stick, (line,)
