# SPDX-License-Identifier: MIT
"""Is the kernel right about the counter's rate? HPET and ACPI timer are asked."""

from __future__ import annotations

from timebase.bench.timers import TITLES
from timebase.doctor.facts import Facts
from timebase.doctor.finding import Finding, Findings

# The tolerance of two crystals, as in src/clock/counter/frequency_sources.c: a kernel that
# calibrated one against the other is off by no more.
TOLERANCE_PPM = 200
NTP_LIMIT_PPM = 500  # no more can be slewed away


def does_a_timer_agree_with_the_kernel(facts: Facts) -> Findings:
    witnesses = [
        row
        for row in facts.timers
        if row["against_kernel"] and row["name"] != facts.counter.kernel_clocksource
    ]
    off = [row for row in witnesses if _is_off(row["against_kernel"])]
    if not witnesses:
        yield _nobody(facts)
    elif not off:
        yield Finding(
            "references",
            "ok",
            f"{_names(witnesses)}: the counter's rate is what the kernel takes it for, within "
            f"{_most(witnesses):.3g} ppm.",
        )
    elif len(off) < len(witnesses):
        right = [row for row in witnesses if row not in off]
        yield Finding(
            "reference-off",
            "warning",
            f"{_names(off)}: {_how_far(off[0])}. {_names(right)} does not say so: one of the two "
            "timers is wrong.",
            "Compare with an NTP server for a day (`chronyc tracking`: frequency) to see which.",
        )
    else:
        yield _miscalibrated(off)


def _is_off(against: dict) -> bool:
    return abs(against["ppm"]) > TOLERANCE_PPM + against["error_ppm"]


def _miscalibrated(off: list[dict]) -> Finding:
    """The counter itself may be sound: it is what it was taken for that is wrong."""
    beyond_ntp = abs(off[0]["against_kernel"]["ppm"]) > NTP_LIMIT_PPM
    alone = "" if len(off) > 1 else " Or that timer is wrong: there is no second one to say so."
    return Finding(
        "counter-miscalibrated",
        "critical" if beyond_ntp and len(off) > 1 else "warning",
        f"{_names(off)}: {_how_far(off[0])}. The kernel calibrated it wrongly at the start: all "
        f"clocks of this machine go so much too {_way(off[0])}.{alone}",
        "Reboot without tsc_early_khz= and other tsc= parameters, and update the firmware; in a "
        "guest ask the host's owner which frequency it tells. Until then boot with "
        f"clocksource=hpet; NTP makes up for {NTP_LIMIT_PPM} ppm at most.",
    )


def _how_far(row: dict) -> str:
    against, hz = row["against_kernel"], row["rate"]["counter_hz"]
    kernel_hz = hz / (1 + against["ppm"] / 1e6)
    return (
        f"the counter runs at {hz / 1e6:,.3f} MHz, which the kernel takes for "
        f"{kernel_hz / 1e6:,.3f} MHz ({against['ppm']:+,.0f} ± {against['error_ppm']:.2g} ppm)"
    )


def _way(row: dict) -> str:
    return "fast" if row["against_kernel"]["ppm"] > 0 else "slow"


def _names(rows: list[dict]) -> str:
    return " and ".join(TITLES[row["name"]] for row in rows)


def _most(rows: list[dict]) -> float:
    return max(
        abs(row["against_kernel"]["ppm"]) + row["against_kernel"]["error_ppm"] for row in rows
    )


def _nobody(facts: Facts) -> Finding:
    problems = [(row, row["problem"]) for row in facts.timers if row["problem"] is not None]
    why = [f"{TITLES[row['name']]}: {problem['text']}" for row, problem in problems]
    why += [
        f"{TITLES[row['name']]}: the kernel keeps time by it"
        for row in facts.timers
        if row["name"] == facts.counter.kernel_clocksource and row["problem"] is None
    ]
    why = why or ["their readings were too much disturbed"]
    return Finding(
        "references-missing",
        "info",
        "No timer beside the counter can say whether the kernel calibrated it rightly. "
        f"{'; '.join(why)}.",
        " ".join(f"{TITLES[row['name']]}: {problem['advice']}" for row, problem in problems),
    )
