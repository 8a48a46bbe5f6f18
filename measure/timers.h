/* SPDX-License-Identifier: MIT */
/*
 * timers: the timers of this machine beside its counter, and what they say of its rate: HPET,
 * ACPI PM timer, battery clock, and the kernel's own raw clock. What a read costs, whether the edge
 * between two counts can be seen, what it is worth to wait for one, and the rate with its error.
 *
 * The PIT is not among them: it is read by a write to its command port, which is the kernel's.
 */
#ifndef TIMEBASE_BENCH_TIMERS_H
#define TIMEBASE_BENCH_TIMERS_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

/* Ticks are the counter's, counts the device's. */
struct timebase_bench_fit {
    uint32_t taken;               /* readings; 0: none of this kind */
    uint32_t kept;                /* of these, in narrow brackets */
    int32_t has_rate;             /* enough were kept, and they do not contradict each other */
    double bracket_ticks;         /* the widest that was kept */
    double residual_ticks;        /* root mean square, about the straight line through them */
    double residual_most_ticks;   /* the largest */
    double ticks_per_count;       /* if has_rate */
    double error_ticks_per_count; /* certainly no more, if both run evenly */
};

struct timebase_bench_timer {
    const char *reason;   /* why not, after an error: constant text */
    double hz;            /* counts in a second, as the device says of itself */
    uint32_t reads;       /* one right after the other */
    uint32_t same;        /* of these, showed the count of the one before */
    double read_ticks;    /* the median */
    double least_ticks;   /* the quickest */
    double slowest_ticks; /* of 99 in 100 */
    int32_t sees_edge;    /* a read is quicker than a count: the edge is between two reads */
    struct timebase_bench_fit plain; /* read whenever it is */
    struct timebase_bench_fit edge;  /* read until the count changes; if sees_edge */
};

/* Numbered from 0; the name is null for a number out of range. */
TIMEBASE_API int timebase_bench_timers(void);
TIMEBASE_API const char *timebase_bench_timer_name(int which);

/*
 * Takes about so long, and for the battery clock up to two seconds more. Returns 0; or an error and
 * out->reason: TIMEBASE_E_INVALID: there is no such number; TIMEBASE_E_NOT_FOUND: this machine has
 * none; TIMEBASE_E_PERMISSION; TIMEBASE_E_UNSUPPORTED: the kernel or the machine is not made so;
 * TIMEBASE_E_REFERENCE: it is off or stands still; TIMEBASE_E_FORMAT. The thread sleeps most of the time; it should stay on one CPU.
 */
TIMEBASE_API int timebase_bench_timer(int which, uint32_t milliseconds,
                                      struct timebase_bench_timer *out);

TIMEBASE_EXTERN_END

#endif
