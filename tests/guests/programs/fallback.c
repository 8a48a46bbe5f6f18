/* SPDX-License-Identifier: MIT */
/*
 * What a program sees of CLOCK_MONOTONIC while the kernel takes another clocksource: a thread on each of
 * two CPUs reads it, each reading after one that another has made.
 *
 *     fallback CLOCKSOURCE LOOKS COMMAND
 *
 * runs COMMAND by the shell, looks up to LOOKS times, 10 ms apart, whether the kernel has taken
 * CLOCKSOURCE, and reads for a second more. Prints
 *
 *     before: 0 of 123456 went back, by 0 ns at most; 0 of 123 behind the kernel's; 95 ns each
 *     after: 0 of 654321 went back, by 0 ns at most; 0 of 654 behind the kernel's; 120 ns each
 *
 * Behind: below the kernel's own clock, read before. Exits with 4 if the kernel keeps its clocksource.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "affinity.h"

#define CURRENT "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* A thread looks at what its clock costs after some 4,000 readings: a few batches. */
enum { CPUS = 2, BATCH = 1000, BATCHES = 10, LOOK_NS = 10000000, LOOKS_AFTER = 100 };

struct found {
    uint64_t batches, readings, back, most, behind, took_ns;
} __attribute__((aligned(64)));

/* MEANWHILE: the kernel has changed, and a thread may still have a reading of before. */
enum phase { BEFORE, MEANWHILE, AFTER, OVER };

static struct found all_found[CPUS][OVER];
static uint64_t highest_ns;
static int phase;

static uint64_t ns_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

static uint64_t read_here(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_of(&now);
}

static uint64_t read_kernel(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return ns_of(&now);
}

static void take(struct found *found)
{
    uint64_t seen_ns = __atomic_load_n(&highest_ns, __ATOMIC_ACQUIRE), now_ns = read_here();
    found->readings++;
    if (now_ns < seen_ns) {
        found->back++;
        found->most = seen_ns - now_ns > found->most ? seen_ns - now_ns : found->most;
    }
    /* What is lower after a step is what the next are compared with. */
    __atomic_store_n(&highest_ns, now_ns, __ATOMIC_RELEASE);
}

static void rest(void)
{
    const struct timespec rest = {.tv_nsec = LOOK_NS};
    nanosleep(&rest, NULL);
}

static void add(struct found *sum, const struct found *one)
{
    sum->readings += one->readings;
    sum->back += one->back;
    sum->most = one->most > sum->most ? one->most : sum->most;
    sum->behind += one->behind;
    sum->took_ns += one->took_ns;
    __atomic_store_n(&sum->batches, sum->batches + one->batches, __ATOMIC_RELEASE);
}

/* A batch counts if it is of one phase. */
static void take_batch(int cpu)
{
    struct found batch = {.batches = 1};
    int at = __atomic_load_n(&phase, __ATOMIC_ACQUIRE);
    uint64_t begin_ns = read_kernel();
    for (int i = 0; i < BATCH; i++)
        take(&batch);
    uint64_t end_ns = read_kernel();
    batch.took_ns = end_ns - begin_ns;
    batch.behind = read_here() < end_ns;
    if (at != OVER && __atomic_load_n(&phase, __ATOMIC_ACQUIRE) == at)
        add(&all_found[cpu][at], &batch);
}

static void *read_on(void *argument)
{
    int cpu = (int)(intptr_t)argument;
    go_to(cpu);
    for (int now = BEFORE; now != OVER; now = __atomic_load_n(&phase, __ATOMIC_RELAXED)) {
        take_batch(cpu);
        if (now == BEFORE)
            rest(); /* the watchdog passes over what it cannot look at in time */
    }
    return NULL;
}

/* ---- the kernel ---------------------------------------------------------------------------- */

static bool has_taken(const char *clocksource)
{
    char line[64] = "";
    FILE *file = fopen(CURRENT, "r");
    if (file == NULL || fgets(line, sizeof(line), file) == NULL)
        line[0] = '\0';
    if (file != NULL)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    return strcmp(line, clocksource) == 0;
}

static void enter(enum phase next)
{
    __atomic_store_n(&phase, next, __ATOMIC_RELEASE);
}

static bool has_batches(enum phase of)
{
    bool has = true;
    for (int cpu = 0; cpu < CPUS; cpu++)
        has = has && __atomic_load_n(&all_found[cpu][of].batches, __ATOMIC_ACQUIRE) >= BATCHES;
    return has;
}

static bool watch(const char *clocksource, long looks)
{
    while (looks-- > 0 && !has_taken(clocksource))
        rest();
    if (looks < 0)
        return false;
    enter(MEANWHILE);
    while (!has_batches(MEANWHILE))
        rest();
    enter(AFTER);
    for (int i = 0; i < LOOKS_AFTER; i++)
        rest();
    return true;
}

static void show(const char *name, enum phase of)
{
    struct found sum = {0};
    for (int cpu = 0; cpu < CPUS; cpu++)
        add(&sum, &all_found[cpu][of]);
    printf("%s: %" PRIu64 " of %" PRIu64 " went back, by %" PRIu64 " ns at most; %" PRIu64 " of %" PRIu64
           " behind the kernel's; %" PRIu64 " ns each\n",
           name, sum.back, sum.readings, sum.most, sum.behind, sum.readings / BATCH,
           sum.took_ns / (sum.readings + 1));
}

int main(int count, char **arguments)
{
    pthread_t threads[CPUS];
    if (count != 4) {
        fprintf(stderr, "usage: fallback CLOCKSOURCE LOOKS COMMAND\n");
        return 2;
    }
    for (int i = 0; i < CPUS; i++)
        if (pthread_create(&threads[i], NULL, read_on, (void *)(intptr_t)i) != 0)
            return 2;
    while (!has_batches(BEFORE))
        rest();
    if (system(arguments[3]) != 0)
        return 2;
    bool is_taken = watch(arguments[1], strtol(arguments[2], NULL, 10));
    enter(OVER);
    for (int i = 0; i < CPUS; i++)
        pthread_join(threads[i], NULL);
    show("before", BEFORE);
    show("after", AFTER);
    return is_taken ? 0 : 4;
}
