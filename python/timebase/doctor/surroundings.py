# SPDX-License-Identifier: MIT
"""Questions about where the process runs: a virtual machine, CPUs, namespaces, hidden files."""

from __future__ import annotations

from timebase.doctor.facts import Facts
from timebase.doctor.finding import Finding, Findings
from timebase.text.hypervisor import show_hypervisor


def is_the_machine_virtual(facts: Facts) -> Findings:
    counter = facts.counter
    if counter.hypervisor:
        name = show_hypervisor(counter.hypervisor_name) or "unnamed hypervisor"
        yield Finding(
            "hypervisor",
            "info",
            f"This is a virtual machine ({name}). After "
            "a migration or a restored snapshot the counter may jump or change its rate.",
            "Where the kernel's clock is made of the same counter, nothing inside notices it. Let "
            "timebased follow what goes on elsewhere: chrony, the host's PTP clock (/dev/ptp0), or "
            "/dev/vmclock0.",
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
