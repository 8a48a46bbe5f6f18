/* SPDX-License-Identifier: MIT */
/*
 * emulated: tests that compare readings of two CPUs, and QEMU's user mode.
 *
 * It gives the guest the host's TSC by a plain RDTSC, for Power, RISC-V and x86 alike. No fence of
 * the guest can order that: on an x86 host "lock orl; rdtsc" lets time go back between cores just
 * as rdtsc alone does. So under emulation these tests run all threads on one CPU, where the
 * rest of what they check still holds.
 */
#ifndef TESTS_EMULATED_H
#define TESTS_EMULATED_H

#include <sched.h>
#include <sys/auxv.h>

/* User-mode QEMU has no vDSO to offer; every kernel that these tests run on has. */
static inline int is_emulated(void)
{
    return getauxval(AT_SYSINFO_EHDR) == 0;
}

/* For this thread and all that it starts from now on. */
static inline void confine_if_emulated(void)
{
    cpu_set_t allowed, one;
    if (!is_emulated() || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

#endif
