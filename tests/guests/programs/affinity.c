/* SPDX-License-Identifier: MIT */
#include "affinity.h"

#include <sched.h>

int go_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof(set), &set);
}
