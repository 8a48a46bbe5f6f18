/* SPDX-License-Identifier: MIT */
/*
 * accuracy: how far from its target an event begins, trial by trial.
 *
 *     struct timebase_bench_method method = {.waiter = &waiter, .loop = TIMEBASE_BENCH_WAITER};
 *     timebase_bench_hits(&method, ahead_ticks, trials, hits);
 *
 * Every number is one trial, and none is left out; the caller computes bias, percentiles and
 * pictures. The event calls timebase_wait_read_fine() first, so the measurement shows what a user's
 * function would see. A single reading of a counter that steps by 10 ns shows nothing below that.
 *
 * The caller has pinned the thread, and calibrated the waiter on that CPU. One thread at a time.
 */
#ifndef TIMEBASE_BENCH_ACCURACY_H
#define TIMEBASE_BENCH_ACCURACY_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

struct timebase_bench_hit {
    double error_ticks;   /* event - target, > 0: late. Of delays: measured - wanted */
    double bound_ticks;   /* +/-, of the measurement itself */
    uint32_t late;        /* 1: no time was left for the approach */
    uint32_t disturbance; /* enum timebase_wait_disturbance; loops gather no evidence: 0 */
};

/* What is done to the caches before a trial, in this order. */
enum timebase_bench_before {
    TIMEBASE_BENCH_WALK = 1,             /* walk over data and code: first and second level cold */
    TIMEBASE_BENCH_TOUCH_INSTRUMENT = 2, /* then a fine reading, so that it is warm again */
    TIMEBASE_BENCH_TOUCH_EVENT = 4,      /* then a call of the event's function, likewise */
    TIMEBASE_BENCH_FLUSH_EVENT = 8,      /* flush the function's line from all caches */
};

enum timebase_bench_loop {
    TIMEBASE_BENCH_WAITER = -1, /* the library's wait instead of a loop */
    TIMEBASE_BENCH_PAPER = 0,   /* the paper's; others by timebase_bench_loop_name() */
};

struct timebase_bench_method {
    struct timebase_waiter *waiter; /* waits, unless a loop does; measures always */
    int32_t loop;                   /* enum timebase_bench_loop, or another loop's number */
    int32_t place;                  /* of the paper's loop: the byte of 64 at which it starts */
    uint32_t flags;                 /* enum timebase_wait_flag, of the waiter */
    uint32_t before;                /* enum timebase_bench_before */
};

/*
 * The polling loops differ in how they read the counter. NULL for a number out of range. places: at
 * how many bytes the paper's loop can start; 1 on processors other than x86-64.
 */
TIMEBASE_API const char *timebase_bench_loop_name(int loop);
TIMEBASE_API int timebase_bench_loop_places(void);

/* enum timebase_bench_before: what this processor can do. */
TIMEBASE_API uint32_t timebase_bench_before_possible(void);

/*
 * One trial for each of ahead_ticks: the target is so far ahead of a reading at the trial's start.
 * Returns 0, TIMEBASE_E_INVALID, TIMEBASE_E_UNSUPPORTED if `before` is not possible here, or what
 * the waiter said.
 */
TIMEBASE_API int timebase_bench_hits(const struct timebase_bench_method *method,
                                     const uint32_t *ahead_ticks, uint32_t trials,
                                     struct timebase_bench_hit *out);

enum timebase_bench_delayer {
    TIMEBASE_BENCH_DELAY_NONE = 0, /* nothing: shows what the measurement adds */
    TIMEBASE_BENCH_DELAY_WAITER = 1,
    TIMEBASE_BENCH_DELAY_LOOP = 2,  /* read the counter until enough of it has passed */
    TIMEBASE_BENCH_DELAY_SLEEP = 3, /* clock_nanosleep, relative */
};

/*
 * Delays of delay_ns, from call to return; delay_ticks is the same in ticks, for the loop and for
 * the error. The error still contains what the measurement adds: subtract that of DELAY_NONE.
 */
TIMEBASE_API int timebase_bench_delays(struct timebase_waiter *waiter, int delayer,
                                       uint64_t delay_ns, double delay_ticks, uint32_t trials,
                                       struct timebase_bench_hit *out);

enum timebase_bench_dispatcher {
    TIMEBASE_BENCH_DISPATCH_SIGNAL = 0,    /* POSIX timer interrupts the thread, busy with load */
    TIMEBASE_BENCH_DISPATCH_TIMERFD = 1,   /* the thread reads a timerfd */
    TIMEBASE_BENCH_DISPATCH_NANOSLEEP = 2, /* clock_nanosleep to the absolute time */
    TIMEBASE_BENCH_DISPATCH_WAITER = 3,    /* timebase_wait_call_mono() */
};

/* Events at start + k * period_ns of CLOCK_MONOTONIC, k = 1 to periods. */
struct timebase_bench_schedule {
    struct timebase_waiter *waiter;
    int32_t dispatcher; /* enum timebase_bench_dispatcher */
    uint32_t flags;     /* enum timebase_wait_flag, of DISPATCH_WAITER */
    int32_t load;       /* of DISPATCH_SIGNAL: what the thread itself does (measure/load.h) */
    uint32_t periods;
    uint64_t period_ns;
};

/*
 * Runs the schedule. If an event comes after the next ones were due, those are missed and have no
 * hit. Returns the number of hits in out[periods], or a negative error.
 */
TIMEBASE_API int timebase_bench_dispatch(const struct timebase_bench_schedule *schedule,
                                         struct timebase_bench_hit *out);

TIMEBASE_EXTERN_END

#endif
