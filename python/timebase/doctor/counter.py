# SPDX-License-Identifier: MIT
"""Questions about the counter: can it be read, does the kernel trust it, how good is it."""

from __future__ import annotations

from timebase.doctor.facts import Facts
from timebase.doctor.finding import Finding, Findings
from timebase.text.frequency import show_frequency

GOOD_QUALITY = 80  # src/clock/counter/quality.c: use it


def is_counter_readable(facts: Facts) -> Findings:
    counter = facts.counter
    if "UNREADABLE" not in counter.reason_names and facts.counter_variable != "os":
        yield Finding("counter", "ok", f"The processor's counter ({counter.name}) can be read.")
    elif facts.counter_variable == "os":
        yield Finding(
            "counter-unreadable",
            "critical",
            "The processor's counter is not used: TIMEBASE_COUNTER=os chose the kernel's clock.",
            "Unset TIMEBASE_COUNTER to use the processor's counter.",
        )
    else:
        yield Finding(
            "counter-unreadable",
            "critical",
            "The processor's counter cannot be read here; the kernel's clock takes its place. "
            "Everything works, but no faster than clock_gettime.",
            "Look for prctl(PR_SET_TSC), a sandbox (gVisor, seccomp), or an emulator, and run "
            "outside it; on x86 the processor must have RDTSCP.",
        )


def does_it_run_forwards(facts: Facts) -> Findings:
    if "WENT_BACKWARDS" in facts.counter.reason_names:
        yield Finding(
            "counter-backwards",
            "critical",
            "The counter went backwards while it was looked at: the counters of this machine's "
            "CPUs are not synchronised, or a hypervisor moves them.",
            "Update the firmware; on a virtual machine ask for an invariant, synchronised TSC. "
            "Until then use clock_gettime, or TIMEBASE_COUNTER=os.",
        )


def does_the_kernel_trust_it(facts: Facts) -> Findings:
    counter = facts.counter
    source = counter.kernel_clocksource
    if "KERNEL_DISTRUSTS" in counter.reason_names:
        yield Finding(
            "kernel-distrusts",
            "critical",
            f"The kernel knows the counter, but keeps time by {source!r} "
            f"(available: {', '.join(counter.kernel_available)}). {_why(facts)}",
            _advice_on_distrust(facts),
        )
    elif source is None:
        yield Finding(
            "kernel-silent",
            "warning",
            "The kernel's opinion of the counter is unknown: its clocksource cannot be read.",
            "Make /sys readable to this process (containers often hide it), and look again.",
        )
    else:
        yield Finding("kernel-clocksource", "ok", f"The kernel's clocksource is {source!r}.")


def _why(facts: Facts) -> str:
    if facts.clock_parameters:
        return "Its command line has " + " ".join(facts.clock_parameters) + "."
    if facts.clock_messages is None:
        return "Why, its log would say, but this user may not read it."
    if not facts.clock_messages:
        return "Its log no longer says why."
    return "Its log: " + " | ".join(facts.clock_messages)


def _advice_on_distrust(facts: Facts) -> str:
    steps = []
    if facts.clock_messages is None:
        steps.append("Run `dmesg | grep -iE 'tsc|clocksource'` as root for the reason.")
    if facts.counter.kernel_clocksource == "kvm-clock":
        steps.append("On KVM this is usual where the host's TSC is not invariant; ask its owner.")
    available = facts.counter.kernel_available
    if "tsc" in available and facts.counter.name == "TSC":
        steps.append(
            "If the counter is known to be good: "
            "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource."
        )
    steps.append("Until then trust no interval across CPUs or idle times.")
    return " ".join(steps)


CLASS_JUDGEMENTS = {
    "VARIABLE_RATE": (
        "critical",
        "its rate changes with the processor's frequency: ticks are no measure of time.",
        "Use clock_gettime, or TIMEBASE_COUNTER=os.",
    ),
    "STOPS_IN_IDLE": (
        "warning",
        "it may stop while the processor is deeply idle; the clock notices afterwards.",
        "Forbid deep idle states (processor.max_cstate=1) if stamps after an idle time matter.",
    ),
    "CLASS_UNKNOWN": (
        "info",
        "the processor does not say how it behaves in power-saving states.",
        "Common on virtual machines. Watch the clock's statistics for counter jumps.",
    ),
}


def what_class_is_it(facts: Facts) -> Findings:
    name = facts.counter.counter_class
    for reason, (severity, text, advice) in CLASS_JUDGEMENTS.items():
        if reason in facts.counter.reason_names:
            yield Finding(
                "counter-class", severity, f"The counter's class is {name}: {text}", advice
            )
            return
    yield Finding("counter-class", "ok", f"The counter's class is {name}.")


def how_fast_is_it(facts: Facts) -> Findings:
    counter = facts.counter
    rate = show_frequency(counter.frequency_hz, counter.frequency_error_hz)
    yield Finding("frequency", "ok", f"The counter runs at {rate}, {counter.frequency_source}.")
    if "FREQUENCY_LIES" in counter.reason_names:
        claimed = show_frequency(counter.claimed_hz or 0, 0)
        yield Finding(
            "frequency-source-lies",
            "warning",
            f"{counter.claimed_source} says {claimed}; measured were {rate}. The measurement counts.",
            "Nothing to do for timebase; programs that believe that source will be wrong.",
        )


def how_fine_is_it(facts: Facts) -> Findings:
    counter = facts.counter
    ns = counter.granularity_ticks * 1e9 / counter.frequency_hz
    ticks = "1 tick" if counter.granularity_ticks == 1 else f"{counter.granularity_ticks} ticks"
    text = f"The counter's granularity is {ticks} ({ns:.3g} ns)."
    if "COARSE" in counter.reason_names:
        yield Finding(
            "granularity", "warning", text, "Do not expect to time anything shorter than this."
        )
    else:
        yield Finding("granularity", "ok", text)


def is_it_emulated(facts: Facts) -> Findings:
    if "EMULATED" in facts.counter.reason_names:
        yield Finding(
            "counter-emulated",
            "warning",
            f"Reading the counter takes {facts.counter.cost_ns:,.0f} ns: something traps it.",
            "Ask the hypervisor's owner to let guests read the TSC (no TSC exiting); until then "
            "clock_gettime may be cheaper.",
        )


def how_good_is_the_counter(facts: Facts) -> Findings:
    counter = facts.counter
    severity = "ok" if counter.quality >= GOOD_QUALITY else "info"
    text = " ".join([f"The counter's quality is {counter.quality} of 100.", *counter.reasons])
    yield Finding("quality", severity, text)
