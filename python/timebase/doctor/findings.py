# SPDX-License-Identifier: MIT
"""What follows from the facts: one function per question, no measuring here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from timebase.doctor.facts import Facts

SEVERITIES = ("critical", "warning", "info", "ok")
LARGE_MAXERROR_US = 100_000
FREQUENCY_LIMIT_PPM = 500  # the kernel corrects no more
# A vDSO call takes a fraction of a system call; without the vDSO it is one.
VDSO_SHARE = 0.7
GOOD_QUALITY = 80  # src/clock/counter/quality.c: use it


@dataclass(frozen=True)
class Finding:
    """`severity`: ok, info, warning (works, with limits), critical (do not use the counter)."""

    id: str
    severity: str
    text: str
    advice: str = ""


Findings = Iterator[Finding]


def judge(facts: Facts) -> list[Finding]:
    """All findings, worst first, else in the order of QUESTIONS."""
    findings = [finding for question in QUESTIONS for finding in question(facts)]
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


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
    mhz = f"{counter.frequency_hz / 1e6:,.6f} MHz"
    text = f"{mhz} +/- {counter.frequency_error_hz:,} Hz, {counter.frequency_source}."
    yield Finding("frequency", "ok", f"The counter runs at {text}")
    if "FREQUENCY_LIES" in counter.reason_names:
        claimed = f"{(counter.claimed_hz or 0) / 1e6:,.6f} MHz"
        yield Finding(
            "frequency-source-lies",
            "warning",
            f"{counter.claimed_source} says {claimed}; measured were {mhz}. The measurement counts.",
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


def is_the_machine_virtual(facts: Facts) -> Findings:
    counter = facts.counter
    if counter.hypervisor:
        yield Finding(
            "hypervisor",
            "info",
            f"This is a virtual machine ({counter.hypervisor_name or 'unnamed hypervisor'}). After "
            "a migration or a restored snapshot the counter may jump or change its rate.",
            "The clock notices within about 100 ms of use and counts it. For correct UTC on such a "
            "day run an NTP daemon, with the host's PTP clock if there is one (/dev/ptp0).",
        )


def how_many_cpus(facts: Facts) -> Findings:
    if facts.online_cpus and facts.allowed_cpus < facts.online_cpus:
        yield Finding(
            "affinity-restricted",
            "info",
            f"This process may use {facts.allowed_cpus} of {facts.online_cpus} CPUs; the others' "
            "counters were not looked at.",
            "Run without taskset or a cpuset to judge the whole machine.",
        )
    if facts.allowed_cpus == 1:
        yield Finding(
            "single-cpu",
            "info",
            "Only one CPU: whether counters agree between CPUs cannot be said, nor matters here.",
        )


def which_time_namespace(facts: Facts) -> Findings:
    space = facts.time_namespace
    if space is None:
        return
    if space.initial is False or space.monotonic_offset_ns or space.boottime_offset_ns:
        yield Finding(
            "time-namespace",
            "info",
            "This process is in a time namespace of its own: its monotonic time differs from the "
            f"machine's by {space.monotonic_offset_ns / 1e9:+,.3f} s. UTC is not affected.",
            "Do not compare monotonic times with processes outside; compare UTC or raw ticks.",
        )


def is_the_kernels_clock_right(facts: Facts) -> Findings:
    ntp = facts.ntp
    if ntp is None:
        return
    if ntp.error is not None:
        yield Finding(
            "ntp-unreadable",
            "warning",
            f"The kernel does not say whether its clock is right: adjtimex: {ntp.error}.",
            "A sandbox refuses the call. Allow adjtimex in its seccomp profile to get UTC bounds.",
        )
    elif not ntp.synchronized:
        yield Finding(
            "ntp-unsynchronized",
            "warning",
            "Nobody keeps the kernel's clock right: UTC here may be wrong by any amount, and no "
            f"bound of UTC holds (the kernel's own guess: {ntp.maxerror_us / 1e6:.0f} s). "
            "Intervals are not affected.",
            "Run an NTP daemon (apt install chrony); check with `chronyc tracking`.",
        )
    else:
        yield from _synchronized(ntp)


def _synchronized(ntp) -> Findings:
    text = f"The kernel's clock is synchronised, within {ntp.maxerror_us:,} µs of UTC."
    if ntp.maxerror_us > LARGE_MAXERROR_US:
        yield Finding(
            "ntp-imprecise", "warning", text, "Choose nearer NTP servers, or a PTP source."
        )
    else:
        yield Finding("ntp", "ok", text)
    if ntp.leap_sec:
        what = "inserted" if ntp.leap_sec > 0 else "deleted"
        yield Finding(
            "leap-second",
            "warning",
            f"A leap second will be {what} at the end of the day: UTC steps, monotonic time does not.",
            "Compare monotonic times or TAI across it.",
        )


def how_far_is_its_frequency_off(facts: Facts) -> Findings:
    ppm = facts.ntp.frequency_ppm if facts.ntp else None
    if ppm is not None and abs(ppm) >= 0.98 * FREQUENCY_LIMIT_PPM:
        yield Finding(
            "ntp-frequency-limit",
            "warning",
            f"The kernel corrects its rate by {ppm:+.1f} ppm, the most it can.",
            "The oscillator, or the frequency that the kernel took for it, is wrong: reboot to have it "
            "measured anew, or remove tsc= parameters.",
        )


def is_tai_known(facts: Facts) -> Findings:
    if facts.ntp is not None and facts.ntp.tai_offset_sec == 0:
        yield Finding(
            "tai-unset",
            "info",
            "Nobody has told the kernel the difference between TAI and UTC: tai_ns() equals UTC.",
            "Let the NTP daemon set it (chrony: leapsectz right/UTC), if TAI is wanted.",
        )


def is_anything_hidden(facts: Facts) -> Findings:
    hidden = [
        name
        for name, readable in (("/proc", facts.proc_readable), ("/sys", facts.sys_readable))
        if not readable
    ]
    if hidden:
        yield Finding(
            "hidden-filesystems",
            "warning",
            f"{' and '.join(hidden)} cannot be read: some questions have no answer here.",
            "Mount them in this container or chroot, and look again.",
        )


def are_kernel_calls_fast(facts: Facts) -> Findings:
    call, system_call = facts.calls["clock_gettime_monotonic"], facts.calls["clock_gettime_syscall"]
    if call > VDSO_SHARE * system_call:
        yield Finding(
            "clock-gettime-slow",
            "warning",
            f"clock_gettime takes {call:,.0f} ns, as long as a system call ({system_call:,.0f} ns): "
            f"the kernel cannot answer in user space with clocksource "
            f"{facts.counter.kernel_clocksource or 'unknown'!r}.",
            "Programs that read the time often will gain most from timebase here. To cure it, have the "
            "kernel use the processor's counter.",
        )
    else:
        yield Finding("clock-gettime", "ok", f"clock_gettime takes {call:.0f} ns (vDSO).")


def is_the_clock_well(facts: Facts) -> Findings:
    clock = facts.clock
    if clock["status"] == "UNRELIABLE":
        yield Finding(
            "clock-unreliable",
            "critical",
            "The counter misbehaved a moment ago: "
            f"{clock['counter_jumps']} jumps, {clock['counter_backwards']} times backwards.",
            "Look again in a minute. If it stays so, use TIMEBASE_COUNTER=os.",
        )
    else:
        new = " (it has only just started)" if clock["status"] == "INITIALIZING" else ""
        yield Finding(
            "clock",
            "ok",
            f"The clock follows CLOCK_REALTIME within {clock['maxerror_ns']:,} ns just now; "
            f"its status is {clock['status']}{new}.",
        )


def how_good_is_the_counter(facts: Facts) -> Findings:
    counter = facts.counter
    severity = "ok" if counter.quality >= GOOD_QUALITY else "info"
    text = " ".join([f"The counter's quality is {counter.quality} of 100.", *counter.reasons])
    yield Finding("quality", severity, text)


QUESTIONS = (
    is_counter_readable,
    does_it_run_forwards,
    does_the_kernel_trust_it,
    what_class_is_it,
    how_fast_is_it,
    how_fine_is_it,
    is_it_emulated,
    is_the_machine_virtual,
    how_many_cpus,
    which_time_namespace,
    is_the_kernels_clock_right,
    how_far_is_its_frequency_off,
    is_tai_known,
    is_anything_hidden,
    are_kernel_calls_fast,
    is_the_clock_well,
    how_good_is_the_counter,
)
