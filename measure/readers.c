/* SPDX-License-Identifier: MIT */
/*
 * Each row is a loop around one call, in this file so that inline readers are inlined. KEEP hands
 * the result to an empty assembly statement that may change memory: the compiler can
 * neither drop the call, nor move it out of the loop, nor do several at a time.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <timebase.h>

#include "reading_cost.h"
#include "publisher.h"
#include "readers.h"
#include "tb_libc_2007.h"
#include "tb_nano_2007.h"

#define KEEP(value) __asm__ __volatile__("" : : "r"(value) : "memory")
#define KEEP_OBJECT(object) __asm__ __volatile__("" : : "r"(&(object)) : "memory")

static struct timebase_stopwatch watch;
static const timebase_clock *chosen_clock; /* NULL: the default clock */

void timebase_bench_use_clock(const timebase_clock *clock)
{
    chosen_clock = clock;
}

static const timebase_clock *measured_clock(void)
{
    return chosen_clock != NULL ? chosen_clock : timebase_clock_default();
}

static void run_empty_loop(uint64_t calls)
{
    for (; calls != 0; calls--)
        KEEP(calls);
}

/* The bare instruction, without the library's check that the counter is readable. */
static void run_counter(uint64_t calls)
{
    if (timebase_counter_is_readable())
        for (; calls != 0; calls--)
            KEEP(timebase_arch_ticks());
    else
        for (; calls != 0; calls--)
            KEEP(timebase_ticks_os());
}

static void run_counter_ordered(uint64_t calls)
{
    if (timebase_counter_is_readable())
        for (; calls != 0; calls--)
            KEEP(timebase_arch_ticks_ordered());
    else
        for (; calls != 0; calls--)
            KEEP(timebase_ticks_os());
}

#define RUN(name, call)                                                                            \
    static void run_##name(uint64_t calls)                                                         \
    {                                                                                              \
        const timebase_clock *clock = measured_clock();                                            \
        (void)clock;                                                                               \
        for (; calls != 0; calls--)                                                                \
            KEEP(call);                                                                            \
    }

RUN(ticks, timebase_ticks())
RUN(ticks_ordered, timebase_ticks_ordered())
RUN(utc_unordered, timebase_utc_ns_unordered(clock))
RUN(utc, timebase_utc_ns(clock))
RUN(mono_unordered, timebase_mono_ns_unordered(clock))
RUN(mono, timebase_mono_ns(clock))
RUN(tai, timebase_tai_ns(clock))
RUN(tb_nano_2007, tb_nano_2007(&timebase_bench_systemcfg))

/* Rows whose result is an object. */
#define RUN_INTO(name, type, call)                                                                 \
    static void run_##name(uint64_t calls)                                                         \
    {                                                                                              \
        const timebase_clock *clock = measured_clock();                                            \
        (void)clock;                                                                               \
        for (; calls != 0; calls--) {                                                              \
            type out;                                                                              \
            call;                                                                                  \
            KEEP_OBJECT(out);                                                                      \
        }                                                                                          \
    }

RUN_INTO(utc_interval, struct timebase_interval, timebase_utc_interval(clock, &out))
RUN_INTO(realtime_interval, struct timebase_interval, timebase_realtime_interval(clock, &out))
RUN_INTO(now, struct timebase_instant, timebase_now(clock, &out))
/* Makes one number of ns of it, because every reading of timebase gives one. */
static inline int64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

RUN(clock_gettime_realtime, clock_ns(CLOCK_REALTIME))
RUN(clock_gettime_monotonic, clock_ns(CLOCK_MONOTONIC))
RUN(clock_gettime_raw, clock_ns(CLOCK_MONOTONIC_RAW))
RUN(clock_gettime_realtime_coarse, clock_ns(CLOCK_REALTIME_COARSE))
RUN(clock_gettime_monotonic_coarse, clock_ns(CLOCK_MONOTONIC_COARSE))
RUN_INTO(gettimeofday, struct timeval, gettimeofday(&out, NULL))
RUN_INTO(tb_libc_2007, struct timeval, tb_libc_2007(&timebase_bench_systemcfg, &out))

#ifdef SYS_clock_gettime64
#define SYSCALL_NUMBER SYS_clock_gettime64
#else
#define SYSCALL_NUMBER SYS_clock_gettime
#endif
typedef int64_t kernel_timespec[2];
RUN_INTO(clock_gettime_syscall, kernel_timespec, syscall(SYSCALL_NUMBER, CLOCK_REALTIME, out))

/* One start and one stop; the thread's own watch, calibrated by prepare. */
static void run_stopwatch(uint64_t calls)
{
    for (; calls != 0; calls--) {
        struct timebase_elapsed out =
            timebase_stopwatch_stop(&watch, timebase_stopwatch_start(&watch));
        KEEP_OBJECT(out);
    }
}

#define ROW(name)                                                                                  \
    {                                                                                              \
#name, run_##name, NULL, NULL, 1                                                           \
    }

const struct bench_reader bench_readers[] = {
    ROW(empty_loop),
    ROW(counter),
    ROW(counter_ordered),
    ROW(ticks),
    ROW(ticks_ordered),
    ROW(utc_unordered),
    ROW(utc),
    ROW(mono_unordered),
    ROW(mono),
    ROW(tai),
    ROW(utc_interval),
    ROW(realtime_interval),
    ROW(now),
    /* 64 times longer than the others, some ms: many publications fall into each batch */
    {"page_updated_1khz", run_utc, bench_publisher_start, bench_publisher_stop, 64},
    ROW(stopwatch),
    ROW(clock_gettime_realtime),
    ROW(clock_gettime_monotonic),
    ROW(clock_gettime_raw),
    ROW(clock_gettime_realtime_coarse),
    ROW(clock_gettime_monotonic_coarse),
    ROW(gettimeofday),
    ROW(clock_gettime_syscall),
    ROW(tb_nano_2007),
    ROW(tb_libc_2007),
};

const int bench_readers_count = (int)(sizeof bench_readers / sizeof bench_readers[0]);

int bench_readers_prepare(void)
{
    systemcfg_2007_update(&timebase_bench_systemcfg, timebase_clock_default());
    return timebase_stopwatch_calibrate(&watch, timebase_clock_default());
}
