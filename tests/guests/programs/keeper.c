/* SPDX-License-Identifier: MIT */
#include "keeper.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <timebase.h>

static struct {
    timebase_cpus *cpus;
    pthread_t thread;
    int64_t again_ns;
    int is_over;
    unsigned renewals, refusals;
} keeper;

/* The threads that measure inherit it. Beside readers that never rest a pair is on its two CPUs at
 * once by luck alone, and the second CPU is left without lines. */
static void go_first(void)
{
    const struct sched_param first = {.sched_priority = 1};
    int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
    if (error != 0)
        printf("the keeper does not go first: error %d\n", error);
}

static void *keep_correct(void *unused)
{
    go_first();
    while (!__atomic_load_n(&keeper.is_over, __ATOMIC_RELAXED)) {
        struct timespec rest = {.tv_nsec = 100000000};
        nanosleep(&rest, NULL);
        if (timebase_cpus_correct(keeper.cpus, &keeper.again_ns) < 0)
            keeper.refusals++;
        else
            keeper.renewals++;
    }
    return unused;
}

void keeper_begin(void)
{
    int result = timebase_cpus_open(&keeper.cpus);
    if (result == 0)
        result = timebase_cpus_correct(keeper.cpus, &keeper.again_ns);
    if (result < 0) {
        printf("not corrected: %s\n", timebase_strerror(result));
        exit(3);
    }
    printf("corrected: %s\n", result == TIMEBASE_CPUS_AGREE ? "no need" : "in force");
    timebase_clock_restart(timebase_clock_default());
    if (pthread_create(&keeper.thread, NULL, keep_correct, NULL) != 0)
        exit(2);
}

void keeper_end(void)
{
    struct timebase_cpu cpus[8];
    __atomic_store_n(&keeper.is_over, 1, __ATOMIC_RELAXED);
    pthread_join(keeper.thread, NULL);
    unsigned count = timebase_cpus_list(keeper.cpus, cpus, 8);
    for (unsigned i = 0; i < count && i < 8; i++)
        printf("cpu %d: state %d, %" PRId64 " +/- %" PRIu64 " ticks, %" PRId64 " ppb, %u jumps\n",
               cpus[i].cpu, cpus[i].state, cpus[i].offset_ticks, cpus[i].error_ticks,
               cpus[i].drift_ppb, cpus[i].jumps);
    printf("%u renewals, %u refused\n", keeper.renewals, keeper.refusals);
}
