# SPDX-License-Identifier: MIT
"""What doctor concludes from invented facts: one machine in order, and one fault at a time."""

from dataclasses import replace

import pytest

from timebase.api.counter import Counter
from timebase.doctor.facts import Facts
from timebase.doctor.findings import judge
from timebase.doctor.ntp import STA_NANO, NtpState, pending_ns, read_ntp
from timebase.status.namespace import TimeNamespace, parse_timens_offsets

GOOD_COUNTER = Counter(
    name="TSC",
    counter_class="non-stop",
    frequency_hz=3_000_000_000,
    frequency_error_hz=10_000,
    frequency_source="CPUID",
    claimed_hz=3_000_000_000,
    claimed_source="CPUID",
    granularity_ticks=2,
    smallest_step_ticks=20,
    cost_ns=8.0,
    cost_ordered_ns=12.0,
    quality=100,
    reasons=(),
    reason_names=(),
    constant=True,
    non_stop=True,
    hypervisor=False,
    hypervisor_name=None,
    cpus=8,
    kernel_clocksource="tsc",
    kernel_available=("tsc", "hpet"),
)
GOOD_NTP = NtpState(
    synchronized=True,
    maxerror_us=900,
    esterror_us=10,
    offset_ns=100,
    frequency_ppm=-12.5,
    tai_offset_sec=37,
    leap_sec=0,
)


def timer(name, ppm=0.0, error_ppm=2.0, kernel_hz=3e9):
    against = None if name == "kernel" else {"ppm": ppm, "error_ppm": error_ppm}
    rate = {"by": "plain", "counter_hz": kernel_hz * (1 + ppm / 1e6), "error_ppm": error_ppm}
    return {"name": name, "problem": None, "rate": rate, "against_kernel": against}


def no_timer(name, error, text, advice):
    problem = {"error": error, "text": text, "advice": advice}
    return {"name": name, "problem": problem, "rate": None, "against_kernel": None}


GOOD_TIMERS = [timer("kernel"), timer("hpet", 30), timer("acpi_pm", 28)]
GOOD = Facts(
    counter=GOOD_COUNTER,
    clock={
        "status": "SYNCHRONIZED",
        "esterror_ns": 20,
        "maxerror_ns": 40,
        "counter_jumps": 0,
        "counter_backwards": 0,
    },
    machine={},
    ntp=GOOD_NTP,
    time_namespace=TimeNamespace(True, 0, 0),
    calls={"clock_gettime_monotonic": 20.0, "clock_gettime_syscall": 200.0, "utc": 15.0},
    allowed_cpus=8,
    online_cpus=8,
    proc_readable=True,
    sys_readable=True,
    clock_parameters=[],
    clock_messages=[],
    counter_variable=None,
    timers=GOOD_TIMERS,
)


def with_counter(**changes):
    return replace(GOOD, counter=replace(GOOD_COUNTER, **changes))


def with_reason(name, **changes):
    return with_counter(reason_names=(name,), reasons=("A reason.",), quality=35, **changes)


def with_ntp(**changes):
    return replace(GOOD, ntp=replace(GOOD_NTP, **changes))


def severities(facts):
    return {finding.id: finding.severity for finding in judge(facts)}


def test_nothing_to_complain_of():
    assert set(severities(GOOD).values()) == {"ok"}


FAULTS = [
    ("counter-unreadable", "critical", with_reason("UNREADABLE")),
    ("counter-unreadable", "critical", replace(GOOD, counter_variable="os")),
    ("counter-backwards", "critical", with_reason("WENT_BACKWARDS")),
    ("kernel-distrusts", "critical", with_reason("KERNEL_DISTRUSTS", kernel_clocksource="hpet")),
    ("kernel-silent", "warning", with_counter(kernel_clocksource=None, kernel_available=())),
    ("counter-class", "critical", with_reason("VARIABLE_RATE")),
    ("counter-class", "warning", with_reason("STOPS_IN_IDLE")),
    ("counter-class", "info", with_reason("CLASS_UNKNOWN")),
    ("frequency-source-lies", "warning", with_reason("FREQUENCY_LIES")),
    ("granularity", "warning", with_reason("COARSE")),
    ("counter-emulated", "warning", with_reason("EMULATED")),
    ("hypervisor", "info", with_counter(hypervisor=True, hypervisor_name="KVMKVMKVM")),
    ("affinity-restricted", "info", replace(GOOD, allowed_cpus=2)),
    ("single-cpu", "info", replace(GOOD, allowed_cpus=1, online_cpus=1)),
    ("time-namespace", "info", replace(GOOD, time_namespace=TimeNamespace(False, 0, 0))),
    ("time-namespace", "info", replace(GOOD, time_namespace=TimeNamespace(None, 5, 0))),
    ("ntp-unreadable", "warning", replace(GOOD, ntp=NtpState(error="Operation not permitted"))),
    ("ntp-unsynchronized", "warning", with_ntp(synchronized=False, maxerror_us=16_000_000)),
    ("ntp-imprecise", "warning", with_ntp(maxerror_us=2_000_000)),
    ("leap-second", "warning", with_ntp(leap_sec=1)),
    ("leap-second", "warning", with_ntp(leap_sec=-1)),
    ("ntp-frequency-limit", "warning", with_ntp(frequency_ppm=-500.0)),
    ("tai-unset", "info", with_ntp(tai_offset_sec=0)),
    ("hidden-filesystems", "warning", replace(GOOD, sys_readable=False)),
    ("clock-gettime-slow", "warning", replace(GOOD, calls={**GOOD.calls, "clock_gettime_monotonic": 190.0})),
    ("clock-unreliable", "critical", replace(GOOD, clock={**GOOD.clock, "status": "UNRELIABLE"})),
    ("quality", "info", with_counter(quality=60)),
]  # fmt: skip


@pytest.mark.parametrize("name, severity, facts", FAULTS, ids=lambda value: str(value)[:25])
def test_fault_is_found(name, severity, facts):
    assert severities(facts)[name] == severity


@pytest.mark.parametrize("name, severity, facts", FAULTS, ids=lambda value: str(value)[:25])
def test_whoever_warns_says_what_to_do(name, severity, facts):
    for finding in judge(facts):
        if finding.severity in ("critical", "warning"):
            assert finding.advice


def test_findings_come_worst_first():
    order = ["critical", "warning", "info", "ok"]
    found = [order.index(finding.severity) for finding in judge(with_reason("KERNEL_DISTRUSTS"))]
    assert found == sorted(found)


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"clock_messages": ["clocksource: Marking tsc unstable"]}, "Marking tsc unstable"),
        ({"clock_messages": None}, "may not read"),
        ({"clock_parameters": ["tsc=unstable"]}, "tsc=unstable"),
    ],
)
def test_distrust_is_explained(changes, told):
    facts = replace(with_reason("KERNEL_DISTRUSTS", kernel_clocksource="hpet"), **changes)
    text = next(found.text for found in judge(facts) if found.id == "kernel-distrusts")
    assert told in text
    assert "hpet" in text


def test_timens_offsets():
    text = "monotonic           86400         0\nboottime           -1 500000000\n"
    assert parse_timens_offsets(text) == {
        "monotonic": 86_400_000_000_000,
        "boottime": -500_000_000,
    }


def test_the_kernels_own_state_can_be_read_or_is_refused_in_words():
    state = read_ntp()
    assert state.error or state.maxerror_us >= 0


def with_timers(*rows, **counter):
    return replace(GOOD, timers=list(rows), counter=replace(GOOD_COUNTER, **counter))


def finding_of(facts, name):
    return next(finding for finding in judge(facts) if finding.id == name)


def test_both_timers_convict_the_kernel():
    facts = with_timers(timer("kernel"), timer("hpet", 700.0), timer("acpi_pm", 701.0))
    found = finding_of(facts, "counter-miscalibrated")
    assert found.severity == "critical"
    assert "3,002.100 MHz" in found.text
    assert "3,000.000 MHz" in found.text
    assert "+700 ± 2 ppm" in found.text
    assert "too fast" in found.text
    assert "HPET and ACPI PM timer" in found.text
    assert "clocksource=hpet" in found.advice


def test_what_ntp_can_make_up_for_is_a_warning_and_so_is_one_timer_alone():
    both = with_timers(timer("hpet", -350.0), timer("acpi_pm", -350.0))
    assert severities(both)["counter-miscalibrated"] == "warning"
    assert "too slow" in finding_of(both, "counter-miscalibrated").text
    alone = with_timers(timer("kernel"), timer("hpet", 5000.0))
    found = finding_of(alone, "counter-miscalibrated")
    assert found.severity == "warning"
    assert "Or that timer is wrong" in found.text


def test_crystals_may_differ_and_errors_count():
    assert "references" in severities(with_timers(timer("hpet", 199.0, 0.1)))
    assert "references" in severities(with_timers(timer("hpet", 900.0, 701.0)))
    assert "counter-miscalibrated" in severities(with_timers(timer("hpet", 203.0)))


def test_timers_that_contradict_each_other_convict_nobody():
    facts = with_timers(timer("hpet", 900.0), timer("acpi_pm", 10.0))
    found = finding_of(facts, "reference-off")
    assert found.severity == "warning"
    assert found.text.startswith("HPET: the counter runs at")
    assert "ACPI PM timer does not say so" in found.text
    assert "counter-miscalibrated" not in severities(facts)


def test_a_timer_that_the_kernel_keeps_time_by_is_no_witness():
    facts = with_timers(timer("hpet", 9000.0), kernel_clocksource="hpet")
    assert "counter-miscalibrated" not in severities(facts)
    assert "HPET: the kernel keeps time by it" in finding_of(facts, "references-missing").text


def test_without_timers_it_says_so_of_each_and_what_to_do():
    facts = with_timers(
        no_timer("hpet", "NOT_FOUND", "there is no HPET here", "Switch it on."),
        no_timer("acpi_pm", "PERMISSION", "neither ioperm() nor /dev/port is allowed", "As root."),
    )
    found = finding_of(facts, "references-missing")
    assert found.severity == "info"
    assert "HPET: there is no HPET here; ACPI PM timer: neither ioperm()" in found.text
    assert found.advice == "HPET: Switch it on. ACPI PM timer: As root."


def test_a_phase_in_microseconds_keeps_its_sign():
    assert pending_ns(-3_000_000, STA_NANO) == -3_000_000
    assert pending_ns((2**32 - 3_000_000) // 1000, 0) // 1000 == -3_001
    assert pending_ns(3_000, 0) == 3_000_000
