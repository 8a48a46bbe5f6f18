# SPDX-License-Identifier: MIT
"""Invented machines for the tests of doctor's real-time section."""

import gzip
import struct
from dataclasses import replace

from test_doctor import GOOD_COUNTER

from timebase.doctor.realtime.examine import Asked, look
from timebase.doctor.realtime.measured import Gaps, Measured, Wakeups
from timebase.doctor.realtime.neighbour import Neighbour
from timebase.doctor.tree import Tree

CPU = 3
CPU_FOLDER = f"/sys/devices/system/cpu/cpu{CPU}"
CONFIG = "CONFIG_HZ=1000\nCONFIG_NO_HZ_FULL=y\nCONFIG_PREEMPT=y\nCONFIG_HWLAT_TRACER=y\n"
LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max locked memory         unlimited            unlimited            bytes
Max realtime priority     99                   99
"""

# A machine set up as docs/guide/real-time.md says, with nothing to complain of.
GOOD = {
    "/proc/config.gz": CONFIG,
    "/proc/cmdline": "quiet isolcpus=domain,managed_irq,3 nohz_full=3 rcu_nocbs=3 -- idle=poll",
    "/proc/sys/kernel/osrelease": "6.18.1",
    "/proc/sys/kernel/version": "#1 SMP PREEMPT_RT",
    "/proc/sys/kernel/sched_rt_runtime_us": "-1",
    "/proc/sys/kernel/sched_rt_period_us": "1000000",
    "/proc/sys/kernel/numa_balancing": "0",
    "/sys/kernel/debug/sched/fair_server/cpu3/runtime": "0",
    "/sys/devices/system/cpu/isolated": "3",
    "/sys/devices/system/cpu/nohz_full": "3",
    "/sys/devices/system/cpu/smt/active": "0",
    "/sys/devices/system/cpu/intel_pstate/no_turbo": "1",
    f"{CPU_FOLDER}/cpuidle/state0/name": "POLL",
    f"{CPU_FOLDER}/cpuidle/state0/latency": "0",
    f"{CPU_FOLDER}/cpuidle/state0/disable": "0",
    f"{CPU_FOLDER}/cpuidle/state1/name": "C1",
    f"{CPU_FOLDER}/cpuidle/state1/latency": "2",
    f"{CPU_FOLDER}/cpuidle/state1/disable": "0",
    f"{CPU_FOLDER}/cpufreq/scaling_governor": "performance",
    f"{CPU_FOLDER}/topology/thread_siblings_list": "3",
    "/sys/devices/system/node/node0/cpulist": "0-3",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "/sys/kernel/mm/ksm/run": "0",
    "/proc/irq/24/smp_affinity_list": "0-2",
    "/proc/1/comm": "init",
    "/proc/interrupts": "      CPU0 CPU3\n24:  5  0  IO-APIC 5-edge x\nLOC:  7  9  Local timer\nERR: 0",
    "/proc/cpuinfo": "vendor_id\t: GenuineIntel\nflags\t\t: fpu waitpkg\n",
    "/proc/stat": "cpu 9 9 9 9 9 9 9 9 9 9\ncpu3 100 0 0 900 0 0 0 0 0 0\n",
    "/proc/self/status": "CapEff:\t0000000000000000\nx86_Thread_features:\t\n",
    "/proc/self/limits": LIMITS,
    "/proc/self/timerslack_ns": "1",
    "/dev/cpu_dma_latency": struct.pack("=i", 2_000_000_000),
    f"/dev/cpu/{CPU}/msr": bytes(0x34) + struct.pack("=Q", 12),
}
QUICK = Wakeups("SCHED_FIFO", 200, 1_000_000, 4000, 6000, 9000, None, 15_000)
STILL = Gaps(2e8, 1000, 2, 1500.0, 1e-5, {"LOC": 1})
ASKED = Asked(
    machine="x86_64",
    coarse_ns=1_000_000,
    policy="SCHED_FIFO",
    fifo_refused=None,
    smis_before=12,
    measured=Measured(QUICK, STILL, None),
    neighbour=Neighbour(2000, 3.95, 0.001, 0),
)


def grow(root, files):
    """Writes the files below root; None leaves one out."""
    for name, content in files.items():
        path = root / name.lstrip("/")
        if content is None:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".gz"):
            content = gzip.compress(content.encode())
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Tree(root)


def facts_of(root, files, counter=GOOD_COUNTER, **asked):
    """`files`: what differs from GOOD; `asked`: what differs from ASKED."""
    return look(grow(root, {**GOOD, **files}), counter, CPU, replace(ASKED, **asked))
