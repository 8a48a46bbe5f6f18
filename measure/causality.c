/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "causality.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* CLOCK_MONOTONIC tells when the run ends. It is read this seldom, so as not to disturb the run. */
#define READS_BETWEEN_LOOKS 1024

/*
 * While it runs the two cores share only `reading`: all else that they write or read is on other
 * lines.
 */
struct trial {
    uint64_t reading __attribute__((aligned(64)));
    bool stop __attribute__((aligned(64)));
    const struct clock_row *row;
    int cpu[2]; /* of publisher and reader */
    bool placed[2];
    uint32_t duration_ms;
    struct timebase_bench_causality found __attribute__((aligned(64)));
};

struct clock_row {
    const char *name, *unit;
    void (*publish)(struct trial *);
    void (*follow)(struct trial *);
};

static uint64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t kernel_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void judge(struct timebase_bench_causality *found, uint64_t seen, uint64_t own)
{
    found->reads++;
    if ((int64_t)(own - seen) >= 0)
        return;
    found->violations++;
    if (seen - own > found->worst)
        found->worst = seen - own;
}

static bool stopped(const struct trial *trial)
{
    return __atomic_load_n(&trial->stop, __ATOMIC_RELAXED);
}

/*
 * Both loops of one clock, with the clock inlined. The empty assembly keeps the compiler from
 * moving the reading before the load; whether the processor does so is what the run finds out.
 */
#define CLOCK(name, call)                                                                          \
    static void publish_##name(struct trial *trial)                                                \
    {                                                                                              \
        const timebase_clock *clock = timebase_clock_default();                                    \
        (void)clock;                                                                               \
        while (!stopped(trial))                                                                    \
            __atomic_store_n(&trial->reading, (uint64_t)(call), __ATOMIC_RELEASE);                 \
    }                                                                                              \
    static void follow_##name(struct trial *trial)                                                 \
    {                                                                                              \
        const timebase_clock *clock = timebase_clock_default();                                    \
        (void)clock;                                                                               \
        uint64_t last = 0, end_ms = monotonic_ms() + trial->duration_ms;                           \
        do {                                                                                       \
            for (int i = 0; i < READS_BETWEEN_LOOKS; i++) {                                        \
                uint64_t seen = __atomic_load_n(&trial->reading, __ATOMIC_ACQUIRE);                \
                __asm__ __volatile__("" : : : "memory");                                           \
                uint64_t own = (uint64_t)(call);                                                   \
                if (seen != last)                                                                  \
                    judge(&trial->found, seen, own);                                               \
                last = seen;                                                                       \
            }                                                                                      \
        } while (monotonic_ms() < end_ms);                                                         \
    }

CLOCK(counter, timebase_ticks())
CLOCK(counter_ordered, timebase_ticks_ordered())
CLOCK(utc_unordered, timebase_utc_ns_unordered(clock))
CLOCK(utc, timebase_utc_ns(clock))
CLOCK(mono_unordered, timebase_mono_ns_unordered(clock))
CLOCK(mono, timebase_mono_ns(clock))
CLOCK(clock_gettime_realtime, kernel_ns(CLOCK_REALTIME))
CLOCK(clock_gettime_monotonic, kernel_ns(CLOCK_MONOTONIC))

#define ROW(name, unit)                                                                            \
    {                                                                                              \
#name, unit, publish_##name, follow_##name                                                 \
    }

static const struct clock_row rows[] = {
    ROW(utc, "ns"),
    ROW(mono, "ns"),
    ROW(counter_ordered, "ticks"),
    ROW(clock_gettime_realtime, "ns"),
    ROW(clock_gettime_monotonic, "ns"),
    ROW(utc_unordered, "ns"),
    ROW(mono_unordered, "ns"),
    ROW(counter, "ticks"),
};

#define ROWS ((int)(sizeof rows / sizeof rows[0]))

static bool move_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

static void *publisher(void *context)
{
    struct trial *trial = context;
    trial->placed[0] = move_to(trial->cpu[0]);
    if (trial->placed[0])
        trial->row->publish(trial);
    return NULL;
}

static void *reader(void *context)
{
    struct trial *trial = context;
    trial->placed[1] = move_to(trial->cpu[1]);
    if (trial->placed[1])
        trial->row->follow(trial);
    return NULL;
}

static int run(struct trial *trial)
{
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, publisher, trial) != 0)
        return TIMEBASE_E_PERMISSION;
    bool started = pthread_create(&threads[1], NULL, reader, trial) == 0;
    if (started)
        pthread_join(threads[1], NULL);
    __atomic_store_n(&trial->stop, true, __ATOMIC_RELAXED);
    pthread_join(threads[0], NULL);
    bool placed = started && trial->placed[0] && trial->placed[1];
    return placed ? TIMEBASE_OK : TIMEBASE_E_PERMISSION;
}

int timebase_bench_causality_rows(void)
{
    return ROWS;
}

const char *timebase_bench_causality_name(int row)
{
    return row >= 0 && row < ROWS ? rows[row].name : NULL;
}

const char *timebase_bench_causality_unit(int row)
{
    return row >= 0 && row < ROWS ? rows[row].unit : NULL;
}

int timebase_bench_causality(int row, int publisher_cpu, int reader_cpu, uint32_t duration_ms,
                             struct timebase_bench_causality *out)
{
    bool cpus_good = publisher_cpu >= 0 && publisher_cpu < CPU_SETSIZE && reader_cpu >= 0 &&
        reader_cpu < CPU_SETSIZE && publisher_cpu != reader_cpu;
    if (row < 0 || row >= ROWS || !cpus_good || out == NULL)
        return TIMEBASE_E_INVALID;
    struct trial trial = {
        .row = &rows[row],
        .cpu = {publisher_cpu, reader_cpu},
        .duration_ms = duration_ms,
    };
    int result = run(&trial);
    *out = trial.found;
    return result;
}
