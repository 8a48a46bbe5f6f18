/* SPDX-License-Identifier: MIT */
/*
 * With whom a CPU shares most: first its own core, then its caches, then its package. Each of these
 * has a lowest CPU, which stands for all of it. So a CPU measured against the lowest of the
 * narrowest group that it does not itself stand for is a leaf or a knot of one tree, and the tree
 * has no more levels than the machine.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock/counter/probe.h"
#include "skew.h"

static const char *const groups[SKEW_RELATIVES] = {
    "topology/thread_siblings_list",
    "cache/index2/shared_cpu_list",
    "cache/index3/shared_cpu_list",
    "topology/core_siblings_list", /* of the package, whatever it is called */
};

/* The kernel lists them rising; the number that a list begins with, or -1. */
static int lowest_of(int cpu, const char *group)
{
    char path[96], text[16];
    char *end;
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, group);
    long length = counter_read_bytes(path, text, sizeof(text) - 1);
    if (length <= 0)
        return -1;
    text[length] = '\0';
    long number = strtol(text, &end, 10);
    return end != text && number >= 0 && number < SKEW_CPUS ? (int)number : -1;
}

unsigned skew_relatives(int cpu, int relatives[SKEW_RELATIVES])
{
    unsigned count = 0;
    for (unsigned i = 0; i < SKEW_RELATIVES; i++) {
        int lowest = lowest_of(cpu, groups[i]);
        if (lowest >= 0 && lowest < cpu && (count == 0 || relatives[count - 1] != lowest))
            relatives[count++] = lowest;
    }
    return count;
}
