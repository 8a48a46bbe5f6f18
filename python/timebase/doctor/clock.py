# SPDX-License-Identifier: MIT
"""Questions about the clocks: the kernel's own, its calls, and this process' clock."""

from __future__ import annotations

from timebase.doctor.facts import Facts
from timebase.doctor.finding import Finding, Findings
from timebase.text.duration import show_error

LARGE_MAXERROR_US = 100_000
FREQUENCY_LIMIT_PPM = 500  # the kernel corrects no more
# A vDSO call takes a fraction of a system call; without the vDSO it is one.
VDSO_SHARE = 0.7


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
            "The clock is off CLOCK_REALTIME by "
            f"{show_error(clock['esterror_ns'], clock['maxerror_ns'])}, just now; "
            f"its status is {clock['status']}{new}.",
        )
