/* SPDX-License-Identifier: MIT */
/*
 * accuracy: how far from its target an event begins, trial by trial.
 *
 *     struct timebase_bench_method methods[] = {
 *         {.waiter = &one, .instrument = &third, .loop = TIMEBASE_BENCH_NAIVE},
 *         {.waiter = &two, .instrument = &third, .loop = TIMEBASE_BENCH_WAITER},
 *     };
 *     struct timebase_bench_instrument instrument = {.waiter = &third};
 *     struct timebase_bench_turns turns = {.instrument = &instrument,
 *         .methods = methods, .method_count = 2, .blocks = 100, .block_trials = 50,
 *         .ahead_ticks = ahead};
 *     timebase_bench_take_turns(&turns, hits, blocks);
 *
 * Every number is one trial, and none is left out; the caller computes bias, percentiles and
 * pictures. The event calls timebase_wait_read_fine() first, so the measurement shows what a user's
 * function would see. A single reading of a counter that steps by 10 ns shows nothing below that.
 * Delays lie between two such readings; where one is enough, between two of the counter in line.
 *
 * The caller has pinned the thread, and calibrated the waiters on that CPU. One thread at a time.
 */
#ifndef TIMEBASE_BENCH_ACCURACY_H
#define TIMEBASE_BENCH_ACCURACY_H

#include <stdint.h>

#include <timebase.h>

#include "instrument.h"

TIMEBASE_EXTERN_BEGIN

struct timebase_bench_hit {
    double error_ticks;   /* event - target, > 0: late. Of delays: measured - wanted */
    double bound_ticks;   /* +/-, of the measurement itself */
    double added_ticks;   /* delays: two readings with nothing between, just before; else 0 */
    uint32_t late;        /* 1: no time was left for the approach */
    uint32_t disturbance; /* enum timebase_wait_disturbance; loops gather no evidence: 0 */
    int32_t mechanism;    /* enum timebase_wait_mechanism; -1: not told, as by loops */
    uint32_t reserved;
};

/* What is done to the caches before a trial, in this order. */
enum timebase_bench_before {
    TIMEBASE_BENCH_WALK = 1,             /* walk over data and code: first and second level cold */
    TIMEBASE_BENCH_TOUCH_INSTRUMENT = 2, /* then a fine reading, so that it is warm again */
    TIMEBASE_BENCH_TOUCH_EVENT = 4,      /* then a call of the event's function, likewise */
    TIMEBASE_BENCH_FLUSH_EVENT = 8,      /* flush the function's line from the core's caches and
                                          * those it shares: x86-64 and 64-bit Arm only */
};

/* What the core does before a block. */
enum timebase_bench_state {
    TIMEBASE_BENCH_STATE_AS_IS = 0,
    TIMEBASE_BENCH_STATE_IDLE = 1,   /* sleeps */
    TIMEBASE_BENCH_STATE_WORK = 2,   /* changes 8 MiB of memory */
    TIMEBASE_BENCH_STATE_VECTOR = 3, /* 0.3 ms of AVX-512, which lowers some cores' clock */
};

/* Who waits: a polling loop by its number (timebase_bench_loop_name()), or one of these. */
enum timebase_bench_loop {
    TIMEBASE_BENCH_SLEEP = -4,   /* delays: clock_nanosleep, relative */
    TIMEBASE_BENCH_NOTHING = -3, /* delays: nothing between the two readings */
    TIMEBASE_BENCH_NAIVE = -2,   /* while (timebase_ticks() < target), where it is needed */
    TIMEBASE_BENCH_WAITER = -1,  /* the library */
    TIMEBASE_BENCH_PAPER = 0,    /* the paper's loop */
};

/* For what. */
enum timebase_bench_form {
    TIMEBASE_BENCH_CALL = 0,  /* the event is a function that is called, with a result */
    TIMEBASE_BENCH_UNTIL = 1, /* the wait's return, without a result */
    TIMEBASE_BENCH_DELAY = 2, /* from call to return, without a result */
};

struct timebase_bench_method {
    struct timebase_waiter *waiter;           /* waits, unless a loop does */
    const struct timebase_waiter *instrument; /* reads the event's instant */
    int32_t loop;    /* enum timebase_bench_loop, or another loop's number */
    int32_t place;   /* of the paper's loop: the byte of 64 at which it starts */
    int32_t form;    /* enum timebase_bench_form */
    uint32_t flags;  /* enum timebase_wait_flag, of the waiter */
    uint32_t before; /* enum timebase_bench_before */
    uint32_t reserved;
    uint64_t delay_ns;  /* of a delay; 0 with BENCH_NOTHING: between readings as waits have them */
    double delay_ticks; /* the same, for the loop and for the error */
};

/*
 * The polling loops differ in how they read the counter. NULL for a number out of range. places: at
 * how many bytes the paper's loop can start; 1 on processors other than x86-64.
 */
TIMEBASE_API const char *timebase_bench_loop_name(int loop);
TIMEBASE_API int timebase_bench_loop_places(void);

/* The bits of enum timebase_bench_before that this processor can do; 1 if it can be in `state`. */
TIMEBASE_API uint32_t timebase_bench_before_possible(void);
TIMEBASE_API int timebase_bench_state_possible(int state);

/*
 * One trial for each of ahead_ticks: its target is this far ahead of a reading at its start.
 * Returns 0, TIMEBASE_E_INVALID, TIMEBASE_E_UNSUPPORTED if `before` is not possible here, or what
 * the waiter said. 16 trials that are not recorded come first.
 */
TIMEBASE_API int timebase_bench_hits(const struct timebase_bench_method *method,
                                     const uint32_t *ahead_ticks, uint32_t trials,
                                     struct timebase_bench_hit *out);

/*
 * Several methods, which take turns in blocks of a few trials, in another order each time: so all
 * see the same machine, and the same targets.
 */
struct timebase_bench_turns {
    struct timebase_bench_instrument
        *instrument; /* kept right; the methods' are to be its waiter */
    const struct timebase_bench_method *methods;
    uint32_t method_count; /* at most 16 */
    uint32_t blocks;       /* of each method */
    uint32_t block_trials;
    int32_t state;               /* enum timebase_bench_state, before each block */
    uint64_t idle_ns;            /* of STATE_IDLE */
    uint64_t seed;               /* of the order */
    const uint32_t *ahead_ticks; /* [blocks * block_trials], not of delays */
};

/* The core just before a block and just after. Before: 0 after idle, for a look would wake it. */
struct timebase_bench_block {
    double cycle_ticks_before, add_ticks_before, add_most_ticks_before;
    double cycle_ticks_after, add_ticks_after, add_most_ticks_after;
};

/*
 * hits[method_count][blocks][block_trials], blocks[method_count][blocks]. No trial is left out, not
 * even the first. Returns as timebase_bench_hits().
 */
TIMEBASE_API int timebase_bench_take_turns(const struct timebase_bench_turns *turns,
                                           struct timebase_bench_hit *hits,
                                           struct timebase_bench_block *blocks);

enum timebase_bench_dispatcher {
    TIMEBASE_BENCH_DISPATCH_SIGNAL = 0,    /* POSIX timer interrupts the thread, busy with load */
    TIMEBASE_BENCH_DISPATCH_TIMERFD = 1,   /* the thread reads a timerfd */
    TIMEBASE_BENCH_DISPATCH_NANOSLEEP = 2, /* clock_nanosleep to the absolute time */
    TIMEBASE_BENCH_DISPATCH_WAITER = 3,    /* timebase_wait_call_mono() */
    TIMEBASE_BENCH_DISPATCH_LOOP = 4,      /* while (timebase_ticks() < target), never asleep */
};

/* Events at start + k * period_ns of CLOCK_MONOTONIC, k = 1 to periods. */
struct timebase_bench_schedule {
    struct timebase_waiter *waiter;
    const struct timebase_waiter *instrument;
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
