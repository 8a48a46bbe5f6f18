/* SPDX-License-Identifier: MIT */
/* Which CPUs there are: dynamic sets, for there are kernels with more than 1,024. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock/counter/probe.h"
#include "skew.h"

#define FOLDER "/sys/devices/system/cpu/"
/* A list of them may have every second one. */
enum { LIST_SIZE = 32768 };

static bool take_number(const char **text, long *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    *number = strtol(*text, &end, 10);
    *text = end;
    return *number < SKEW_CPUS;
}

unsigned skew_parse_list(const char *text, int *cpus, unsigned size)
{
    unsigned count = 0;
    for (long first, last, above = -1;; above = last, text++) {
        if (!take_number(&text, &first))
            return 0;
        last = first;
        if (*text == '-' && (text++, !take_number(&text, &last)))
            return 0;
        if (first <= above || last < first)
            return 0;
        for (; first <= last; first++, count++)
            if (count < size)
                cpus[count] = (int)first;
        if (*text == '\0')
            return count;
        if (*text != ',')
            return 0;
    }
}

/* Of this thread: no more than it may use, but better than nothing. */
unsigned skew_list_own(int cpus[SKEW_CPUS])
{
    unsigned count = 0;
    size_t size = CPU_ALLOC_SIZE(SKEW_CPUS);
    cpu_set_t *set = CPU_ALLOC(SKEW_CPUS);
    if (set != NULL && sched_getaffinity(0, size, set) == 0)
        for (int cpu = 0; cpu < SKEW_CPUS; cpu++)
            if (CPU_ISSET_S(cpu, size, set))
                cpus[count++] = cpu;
    if (set != NULL)
        CPU_FREE(set);
    return count;
}

/* The kernel's list is longer than a line of the probe's. */
static unsigned list_of(const char *path, int cpus[SKEW_CPUS])
{
    unsigned count = 0;
    char *text = malloc(LIST_SIZE);
    long length = text != NULL ? counter_read_bytes(path, text, LIST_SIZE - 1) : 0;
    if (length > 0) {
        text[length] = '\0';
        text[strcspn(text, "\n")] = '\0';
        count = skew_parse_list(text, cpus, SKEW_CPUS);
    }
    free(text);
    return count;
}

unsigned skew_list_online(int cpus[SKEW_CPUS])
{
    return list_of(FOLDER "online", cpus);
}

unsigned skew_list_present(int cpus[SKEW_CPUS])
{
    return list_of(FOLDER "present", cpus);
}

/*
 * The kernel makes this folder when the CPU comes online and removes it when it goes, also around a
 * suspend, and sysfs gives no number to two folders (Linux 4.14 and newer: idr_alloc_cyclic() in
 * kernfs). A thread that sleeps on the CPU would not tell: it is moved only when it wakes up in
 * between.
 */
uint64_t skew_life(int cpu)
{
    char path[64], full[512];
    struct stat status;
    snprintf(path, sizeof(path), FOLDER "cpu%d/topology", cpu);
    if (counter_full_path(path, full, sizeof(full)) != 0 || stat(full, &status) != 0)
        return 0;
    return (uint64_t)status.st_ino;
}
