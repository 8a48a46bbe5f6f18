/* SPDX-License-Identifier: MIT */
/*
 * One CPU for this thread. The kernel's sets are arrays of longs, of any length; a cpu_set_t would
 * end at CPU 1,023.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "setting.h"

#define FOLDER "/sys/devices/system/cpu"

enum { SET_BYTES = sizeof(((struct timebase_realtime *)0)->affinity) };
enum { LONG_BITS = 8 * sizeof(unsigned long) };

struct affinity_mask {
    unsigned long words[SET_BYTES / sizeof(unsigned long)];
};

static int get_cpus(void *set)
{
    return sched_getaffinity(0, SET_BYTES, (cpu_set_t *)set) == 0 ? 0 : errno;
}

static int set_cpus(const void *set)
{
    return sched_setaffinity(0, SET_BYTES, (const cpu_set_t *)set) == 0 ? 0 : errno;
}

static struct affinity_mask only(int cpu)
{
    struct affinity_mask cpus = {{0}};
    cpus.words[cpu / LONG_BITS] = 1ul << cpu % LONG_BITS;
    return cpus;
}

/* CPUs that cannot be unplugged have no such file, and are online. */
static bool is_offline(int cpu)
{
    char path[sizeof(FOLDER) + 24], state = '1';
    snprintf(path, sizeof(path), FOLDER "/cpu%d/online", cpu);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool is_read = read(file, &state, 1) == 1;
    close(file);
    return is_read && state == '0';
}

static bool is_missing(int cpu)
{
    char path[sizeof(FOLDER) + 16];
    snprintf(path, sizeof(path), FOLDER "/cpu%d", cpu);
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* The kernel answers EINVAL both for a CPU that is missing and for one that is not allowed. */
static int name_refusal(int cpu, int error)
{
    if (error != EINVAL || access(FOLDER, F_OK) != 0)
        return error;
    return is_missing(cpu) || is_offline(cpu) ? ENODEV : EPERM;
}

static int acquire(struct timebase_realtime *rt, const struct timebase_realtime_request *request)
{
    int cpu = request->cpu >= 0 ? request->cpu : sched_getcpu();
    int error = cpu >= 0 ? get_cpus(rt->affinity) : errno;
    if (error != 0)
        return error;
    struct affinity_mask wanted = only(cpu);
    error = set_cpus(&wanted);
    if (error != 0)
        return name_refusal(cpu, error);
    rt->cpu = cpu;
    return 0;
}

static int release(struct timebase_realtime *rt)
{
    int error = set_cpus(rt->affinity);
    if (error == 0)
        rt->cpu = -1;
    return error;
}

static void disinherit(struct timebase_realtime *rt)
{
    struct affinity_mask pinned = only(rt->cpu), now;
    if (get_cpus(&now) == 0 && memcmp(&now, &pinned, SET_BYTES) == 0)
        release(rt);
}

const struct setting setting_affinity = {
    .bit = TIMEBASE_REALTIME_AFFINITY,
    .name = "CPU of its own",
    .advice = "name a CPU that is online (/sys/devices/system/cpu/online) and in the cpuset of "
              "this process' cgroup or container (cpuset.cpus.effective)",
    .acquire = acquire,
    .release = release,
    .disinherit = disinherit,
};
