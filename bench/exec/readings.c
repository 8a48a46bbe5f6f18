/* SPDX-License-Identifier: MIT */
/*
 * What a reading costs in this process by clock_gettime(), by the kernel's own code in memory (vDSO), and
 * by a system call: one line "NAME HERE VDSO CALL" for each clock, medians in nanoseconds. The three
 * take turns, in batches, so that all see the same machine. Begun by bench/exec.py.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 301, BATCH = 1000, WAYS = 3 };

typedef int reading(clockid_t id, struct timespec *out);

static const struct {
    const char *name;
    clockid_t id;
} clocks[] = {
    {"REALTIME", CLOCK_REALTIME},        {"MONOTONIC", CLOCK_MONOTONIC},
    {"MONOTONIC_RAW", CLOCK_MONOTONIC_RAW}, {"BOOTTIME", CLOCK_BOOTTIME},
    {"TAI", CLOCK_TAI},                  {"MONOTONIC_COARSE", CLOCK_MONOTONIC_COARSE},
};

static int by_call(clockid_t id, struct timespec *out)
{
    return (int)syscall(SYS_clock_gettime, id, out);
}

static reading *vdso(void)
{
    void *library = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    reading *found = NULL;
    if (library != NULL)
        *(void **)&found = dlsym(library, "__vdso_clock_gettime");
    return found != NULL ? found : by_call;
}

static int64_t now_ns(void)
{
    struct timespec now;
    by_call(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static double batch_ns(reading *read, clockid_t id)
{
    struct timespec out;
    int64_t begin = now_ns();
    for (int i = 0; i < BATCH; i++)
        read(id, &out);
    return (double)(now_ns() - begin) / BATCH;
}

static int by_size(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

static void measure(const char *name, clockid_t id)
{
    static double found[WAYS][ROUNDS];
    reading *const ways[WAYS] = {clock_gettime, vdso(), by_call};
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++)
            found[(way + round) % WAYS][round] = batch_ns(ways[(way + round) % WAYS], id);
    printf("%s", name);
    for (int way = 0; way < WAYS; way++) {
        qsort(found[way], ROUNDS, sizeof(found[way][0]), by_size);
        printf(" %.2f", found[way][ROUNDS / 2]);
    }
    printf("\n");
}

int main(void)
{
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
        measure(clocks[i].name, clocks[i].id);
    return 0;
}
