# SPDX-License-Identifier: MIT
"""Doctor's real-time section on invented machines: one in order, and one fault at a time."""

from dataclasses import replace

import pytest
from realtime_trees import CONFIG, CPU_FOLDER, GOOD, QUICK, STILL, facts_of
from test_doctor import GOOD_COUNTER

from timebase.doctor.realtime.examine import judge
from timebase.doctor.realtime.measured import Measured
from timebase.doctor.realtime.neighbour import Neighbour

GUEST = replace(GOOD_COUNTER, hypervisor=True)
COARSE = replace(GOOD_COUNTER, granularity_ticks=26, frequency_hz=2_596_000_000)
SLEEPY = Measured(replace(QUICK, p95_ns=210_000, max_ns=57_472_000), STILL, None)
HELD_UP = Measured(QUICK, replace(STILL, lost_share=0.05), None)
UNMEASURED = Measured(None, None, "Invalid argument")
NO_SERVER = {"/sys/kernel/debug/sched/fair_server/cpu3/runtime": None}
THROTTLED = {"/proc/sys/kernel/sched_rt_runtime_us": "950000"}
DEEP = {f"{CPU_FOLDER}/cpuidle/state2/latency": "133", f"{CPU_FOLDER}/cpuidle/state2/name": "C6"}
PLAIN = {"/proc/sys/kernel/version": "#1 SMP", "/proc/config.gz": "CONFIG_HZ=250\n"}


def found(facts):
    return {finding.id: finding for finding in judge(facts)}


def test_a_machine_that_is_set_up_has_nothing_to_complain_of(tmp_path):
    assert {finding.severity for finding in judge(facts_of(tmp_path, {}))} == {"ok"}


# id, severity, what is in the text or the advice, files that differ, what was asked or measured
FAULTS = [
    ("tick", "warning", "nohz_full=3", {"/sys/devices/system/cpu/nohz_full": "1-2"}, {}),
    ("tick", "warning", "CONFIG_NO_HZ_FULL", {"/proc/config.gz": "CONFIG_HZ=100\n", "/sys/devices/system/cpu/nohz_full": None}, {}),
    ("tick", "warning", "1000 times", {"/proc/config.gz": None, "/sys/devices/system/cpu/nohz_full": "(null)"}, {}),
    ("isolation", "warning", "(isolated: none)", {"/sys/devices/system/cpu/isolated": ""}, {}),
    ("isolation", "warning", "(isolated: 1-2)", {"/sys/devices/system/cpu/isolated": "1-2"}, {}),
    ("preemption", "warning", "no preemption", {**PLAIN, "/proc/config.gz": "CONFIG_PREEMPT_NONE=y\n"}, {}),
    ("preemption", "info", "voluntary", {**PLAIN, "/sys/kernel/debug/sched/preempt": "none (voluntary) full"}, {}),
    ("preemption", "info", "command line", {**PLAIN, "/proc/cmdline": "preempt=full preempt=voluntary"}, {}),
    ("throttling", "warning", "50 ms of every 1000 ms", {**THROTTLED, "/proc/sys/kernel/osrelease": "6.1.0"}, {}),
    ("throttling", "warning", "fair server", NO_SERVER, {}),
    ("throttling", "warning", "50 ms of every 1000 ms", {**THROTTLED, "/proc/config.gz": CONFIG + "CONFIG_RT_GROUP_SCHED=y\n"}, {}),
    ("idle-states", "info", "C6, 133 µs", DEEP, {}),
    ("idle-request", "info", "no /dev/cpu_dma_latency", {"/dev/cpu_dma_latency": None}, {}),
    ("governor", "warning", "'powersave'", {f"{CPU_FOLDER}/cpufreq/scaling_governor": "powersave"}, {}),
    ("turbo", "info", "on", {"/sys/devices/system/cpu/intel_pstate/no_turbo": "0"}, {}),
    ("turbo", "info", "on", {"/sys/devices/system/cpu/intel_pstate/no_turbo": None, "/sys/devices/system/cpu/cpufreq/boost": "1"}, {}),
    ("siblings", "warning", "with CPU 7", {f"{CPU_FOLDER}/topology/thread_siblings_list": "3,7"}, {}),
    ("interrupts", "warning", "1 of 1 devices", {"/proc/irq/24/smp_affinity_list": "0-3"}, {}),
    ("irqbalance", "warning", "BANNED", {"/proc/77/comm": "irqbalance"}, {}),
    ("firmware", "warning", "3 times during", {}, {"smis_before": 9}),
    ("real-time-priority", "warning", "Operation not permitted", {}, {"fifo_refused": "Operation not permitted"}),
    ("locked-memory", "warning", "8 MiB", {"/proc/self/limits": "Max locked memory         8388608   8388608  bytes"}, {}),
    ("timer-slack", "info", "50,000 ns", {"/proc/self/timerslack_ns": "50000"}, {}),
    ("huge-pages", "info", "always", {"/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"}, {}),
    ("page-merging", "info", "KSM", {"/sys/kernel/mm/ksm/run": "1"}, {}),
    ("numa-balancing", "warning", "NUMA", {"/proc/sys/kernel/numa_balancing": "1", "/sys/devices/system/node/node1/cpulist": ""}, {}),
    ("steal", "warning", "10.000%", {"/proc/stat": "cpu3 80 0 0 10 0 0 0 10 80 0"}, {"counter": GUEST}),
    ("steal", "info", "0.000%", {}, {"counter": GUEST}),
    ("shadow-stack", "info", "return address", {"/proc/self/status": "x86_Thread_features:\tshstk wrss\n"}, {}),
    ("light-sleep", "info", "no light sleep", {"/proc/cpuinfo": "flags\t\t: fpu tsc\n"}, {}),
    ("counter-step", "info", "10 ns", {}, {"counter": COARSE}),
    ("wake-ups", "warning", "within 210 µs, the last after 57.5 ms.", {}, {"measured": SLEEPY}),
    ("gaps", "warning", "5.00%", {}, {"measured": HELD_UP}),
    ("neighbour", "warning", "31.0%", {}, {"neighbour": Neighbour(2000, 3.95, 0.31, 0)}),
    ("neighbour", "info", "2.1 additions", {}, {"neighbour": Neighbour(2000, 2.1, 0.0, 0)}),
    ("neighbour", "info", "could not be measured", {}, {"neighbour": Neighbour(0, None, None, None)}),
]  # fmt: skip


@pytest.mark.parametrize("name, severity, told, files, asked", FAULTS, ids=lambda v: str(v)[:25])
def test_a_fault_is_found_and_nothing_else(tmp_path, name, severity, told, files, asked):
    findings = found(facts_of(tmp_path, files, **asked))
    assert findings[name].severity == severity
    assert told in findings[name].text + findings[name].advice
    others = {n for n, f in findings.items() if f.severity == "warning" and n != name}
    assert not others


@pytest.mark.parametrize("name, severity, told, files, asked", FAULTS, ids=lambda v: str(v)[:25])
def test_whoever_warns_says_what_to_do(tmp_path, name, severity, told, files, asked):
    for finding in judge(facts_of(tmp_path, files, **asked)):
        assert finding.severity != "warning" or finding.advice


NOT_FILES = {"real-time-priority", "counter-step", "wake-ups", "gaps", "idle-request", "neighbour"}


def test_where_nothing_can_be_read_everything_is_said_to_be_unknown(tmp_path):
    nothing = dict.fromkeys(GOOD)
    facts = facts_of(tmp_path, nothing, replace(GOOD_COUNTER, hypervisor=None), coarse_ns=None)
    findings = found(facts)
    assert set(findings) >= set(found(facts_of(tmp_path / "good", {})))
    for name in set(findings) - NOT_FILES:
        assert findings[name].severity == "info", findings[name]
        assert "unknown" in findings[name].text, findings[name]


def test_what_could_not_be_measured_is_said_with_the_reason(tmp_path):
    finding = found(facts_of(tmp_path, {}, measured=UNMEASURED))["wake-ups"]
    assert finding.severity == "info"
    assert "Invalid argument" in finding.text


GRANTED = [
    ("tick", {"/proc/cmdline": ""}, {}),
    ("isolation", {"/sys/devices/system/cpu/isolated": "", "/sys/fs/cgroup/cpuset.cpus.isolated": "2-3"}, {}),
    ("preemption", {**PLAIN, "/sys/kernel/realtime": "1"}, {}),
    ("preemption", {**PLAIN, "/proc/config.gz": "CONFIG_PREEMPT=y\n"}, {}),
    ("preemption", {**PLAIN, "/proc/cmdline": "preempt=lazy"}, {}),
    ("preemption", {**PLAIN, "/proc/config.gz": None, "/proc/sys/kernel/version": "#1 SMP PREEMPT now"}, {}),
    ("throttling", {"/proc/sys/kernel/osrelease": "5.15.0", **NO_SERVER}, {}),
    ("throttling", {"/proc/sys/kernel/sched_rt_runtime_us": "1000000", "/proc/sys/kernel/osrelease": "5.15.0"}, {}),
    ("idle-states", {**DEEP, "/proc/cmdline": "idle=poll"}, {}),
    ("idle-states", {**DEEP, f"{CPU_FOLDER}/cpuidle/state2/disable": "1"}, {}),
    ("idle-states", {**DEEP, "/dev/cpu_dma_latency": bytes(4)}, {}),
    ("governor", {f"{CPU_FOLDER}/cpufreq/scaling_{n}": v for n, v in (("governor", "userspace"), ("min_freq", "2"), ("max_freq", "2"))}, {}),
    ("interrupts", {"/proc/irq/24/smp_affinity_list": "0-2,4-9"}, {}),
    ("locked-memory", {"/proc/self/limits": "", "/proc/self/status": "CapEff:\t0000000000004000\n"}, {}),
    ("numa-balancing", {"/proc/sys/kernel/numa_balancing": "1"}, {}),
    ("light-sleep", {"/proc/cpuinfo": "Features\t: fp wfxt\n"}, {"machine": "aarch64"}),
    ("light-sleep", {"/proc/cpuinfo": "flags\t\t: fpu mwaitx\n"}, {}),
]  # fmt: skip


@pytest.mark.parametrize("name, files, asked", GRANTED, ids=lambda v: str(v)[:40])
def test_what_is_in_order_in_another_way_is_in_order_too(tmp_path, name, files, asked):
    assert found(facts_of(tmp_path, files, **asked))[name].severity == "ok"


def test_a_kernel_without_its_configuration_tells_its_tick_by_its_coarse_clock(tmp_path):
    facts = facts_of(tmp_path, {"/proc/config.gz": None}, coarse_ns=4_000_000)
    assert (facts.tick.hz, facts.tick.can_stop) == (250, None)


def test_the_configuration_beside_the_kernel_is_read_as_well(tmp_path):
    files = {"/proc/config.gz": None, "/boot/config-6.18.1": "CONFIG_HZ=300\n"}
    assert facts_of(tmp_path, files).tick.hz_source == "/boot/config-6.18.1"


def test_a_broken_archive_of_the_configuration_is_no_configuration(tmp_path):
    (tmp_path / "proc").mkdir()
    facts = facts_of(tmp_path, {"/proc/config.gz": None})
    (tmp_path / "proc/config.gz").write_bytes(b"\x1f\x8b\x08 nonsense")
    assert facts_of(tmp_path, {"/proc/config.gz": None}).tick == facts.tick


def test_what_the_first_process_is_told_is_no_kernel_parameter(tmp_path):
    assert facts_of(tmp_path, {}).idle.parameters == ()  # GOOD has idle=poll behind "--"


def test_the_count_of_smis_is_believed_on_intel_only(tmp_path):
    amd = {"/proc/cpuinfo": "vendor_id\t: AuthenticAMD\nflags\t: waitpkg\n"}
    assert facts_of(tmp_path, amd).firmware.smi_count is None


def test_a_count_of_smis_that_wrapped_round_is_still_a_count(tmp_path):
    facts = facts_of(tmp_path, {}, smis_before=2**32 - 1)
    assert facts.firmware.while_polling == 13


def test_a_machine_without_a_hypervisor_has_no_steal(tmp_path):
    assert "steal" not in found(facts_of(tmp_path, {"/proc/stat": GOOD["/proc/stat"]}))


def test_findings_come_worst_first(tmp_path):
    files = {"/sys/devices/system/cpu/isolated": "", "/proc/self/timerslack_ns": "50000"}
    severities = [finding.severity for finding in judge(facts_of(tmp_path, files))]
    assert severities == sorted(severities, key=["warning", "info", "ok"].index)
    assert severities[0] == "warning"


def test_ids_differ_from_those_of_the_clock():
    from test_doctor import GOOD as GOOD_CLOCK

    from timebase.doctor.findings import judge as judge_clock

    clock = {finding.id for finding in judge_clock(GOOD_CLOCK)}
    assert not clock & {name for name, *_ in FAULTS}


@pytest.mark.parametrize("name, advice", [("idle-request", "udev"), ("idle-states", "dma_latency")])
def test_who_may_not_ask_for_shallow_idle_states_is_warned(tmp_path, name, advice):
    facts = facts_of(tmp_path, DEEP)
    forbidden = replace(facts, idle=replace(facts.idle, request_allowed=False))
    assert found(forbidden)[name].severity == "warning"
    assert advice in found(forbidden)[name].advice


def test_the_fair_server_takes_over_with_linux_6_12(tmp_path):
    files = {"/proc/sys/kernel/osrelease": "6.12.0-amd64", **NO_SERVER}
    assert facts_of(tmp_path, files).throttling.by_server is True
    files = {"/proc/sys/kernel/osrelease": "6.11.9-amd64", **NO_SERVER}
    assert facts_of(tmp_path, files).throttling.by_server is False


def test_a_kernel_that_may_have_been_switched_does_not_tell_its_model(tmp_path):
    files = {"/proc/config.gz": None, "/proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC now"}
    assert facts_of(tmp_path, files).preemption.model is None


def test_where_no_process_is_visible_irqbalance_may_run(tmp_path):
    finding = found(facts_of(tmp_path, {"/proc/1/comm": None}))["irqbalance"]
    assert (finding.severity, "unknown" in finding.text) == ("info", True)


def test_steal_means_nothing_without_a_hypervisor(tmp_path):
    assert "steal" not in found(facts_of(tmp_path, {"/proc/stat": "cpu3 80 0 0 10 0 0 0 10 0 0"}))


def test_other_processors_do_not_tell_their_shadow_stacks(tmp_path):
    facts = facts_of(tmp_path, {"/proc/self/status": "CapEff:\t0\n"}, machine="aarch64")
    assert facts.instructions.shadow_stack is None


def test_half_a_register_means_nothing(tmp_path):
    facts = facts_of(tmp_path, {"/dev/cpu/3/msr": bytes(0x34 + 3)})
    assert facts.firmware.smi_count is None
