/* SPDX-License-Identifier: MIT */
/*
 * What is inside a struct timebase_waiter, on a boundary of 128 bytes in its storage.
 *
 * Instants within a wait are doubles in ticks relative to its target, so they are small
 * and exact to a fraction of a tick. A "step" is what the counter jumps by.
 */
#ifndef WAIT_WAITER_H
#define WAIT_WAITER_H

#include <timebase/wait.h>

#include "approach.h"
#include "evidence.h"
#include "sleep.h"
#include "steady.h"
#include "vernier.h"

#define WAITER_MAGIC UINT64_C(0x7469636b77616974) /* "tickwait" */

/* Delays by instructions: without readings, with two of them, and with these, evidence and result.
 */
enum delay_kind { DELAY_BARE, DELAY_FOLLOWED, DELAY_MEASURED, DELAY_KINDS };

/* What calibration learns; ticks unless said otherwise. */
struct waiter_learnt {
    double period_ns;         /* of a tick */
    double instruction_ticks; /* one instruction of the run */
    double shortest_ticks;    /* first reading to event with the shortest run */
    double longest_ticks;     /* and with the longest */
    double coarse_ticks;      /* the polling loop ends this long before the event */
    double longer_quarters;   /* what approach.longer_quarters is rounded from */
    double coarse_most_ticks; /* and never longer */
    double poll_ticks;        /* of the polling loop as fast as it lately was; 0: not known yet */
    double stamp_ticks[2];    /* stamp to event of calls: plain, exact */
    double exit_ticks[2][2];  /* event of a call to the return of timebase_wait_until: plain or
                               * exact, without or with a result */
    double lead_ticks;        /* polling in C ends this long before the approach begins */
    double early_ticks;       /* no undisturbed wait of the calibration was this early */
    double exact_spread_ticks;
    double sample_width_ticks;
    double plain_bias_ticks; /* last poll's threshold to event: of calls */
    double plain_spread_ticks;
    double run_ticks;                      /* one instruction of a delay by instructions alone */
    double delay_fixed_ticks[DELAY_KINDS]; /* such a delay with none */
    double delay_read_ticks[DELAY_KINDS];  /* from reading to reading, beside the instructions */
    double delay_bias_ticks[2][2]; /* what a delay by a wait is late: plain or exact, without or
                                    * with a result */
    uint64_t phase_ticks;          /* the counter's readings modulo its step */
    int exact;                     /* 0: no approach but polling works here */
};

/* One wait. */
struct wait {
    struct waiter *waiter;
    uint64_t (*ticks_at)(const timebase_clock *clock, int64_t ns); /* null: a target in ticks */
    int64_t ns;
    uint64_t ticks;
    double fraction; /* of a tick, added to ticks */
    double aim;      /* stands for the event, relative to ticks */
    unsigned flags;
    int exact;
    int is_unsteady;          /* would have been exact, but the core is shared */
    void (*function)(void *); /* null: return */
    void *argument;
    struct timebase_wait_result *result;
    struct sleep_wait sleep;
    int prepared;
    int cpu;              /* on which it began */
    uint32_t disturbance; /* while polling, before the approach */
};

struct waiter {
    struct approach approach;
    uint8_t table[APPROACH_TABLE_ENTRIES];
    uint64_t magic;
    const timebase_clock *clock;
    struct approach_ways ways;
    approach_function *best; /* of exact waits */
    struct vernier vernier;
    struct evidence evidence;
    struct waiter_learnt learnt;
    struct sleeper sleeper;
    struct steady steady;
    double calibration_ns;
    int cpu;
    int calibrations;
    int is_calibrating;
    struct wait last;
    int wait_is_open; /* the last wait has not been settled yet */
    int can_track;    /* the last approach was exact and undisturbed, and not learnt from yet */
    uint64_t waits, late, disturbed;
    uint64_t uses; /* of the approach and its evidence: waits and measured delays */
    uint64_t short_delays, followed_ticks;
    enum delay_kind calibrated_kind;
};

/* Where it lies in the storage. */
static inline struct waiter *waiter_within(struct timebase_waiter *waiter)
{
    uintptr_t start = (uintptr_t)waiter->storage;
    return (struct waiter *)((start + 127) & ~(uintptr_t)127);
}

_Static_assert(sizeof(struct waiter) + 127 <= sizeof(struct timebase_waiter), "storage too small");

/* calibrate.c: learn all of it. */
void waiter_calibrate(struct timebase_waiter *waiter);

/* The instant that a reading stands for: the middle of its step. */
static inline double waiter_middle(const struct waiter *waiter, uint64_t ticks, uint64_t base)
{
    return (double)(int64_t)(ticks - base) + waiter->vernier.half_step_ticks;
}

/* A fine reading, by whatever means there are. */
int waiter_read_fine(const struct waiter *waiter, uint64_t base_ticks,
                     struct timebase_fine_reading *out);

/* Set the approach up for an event at target + lead: exact, or by polling. */
void waiter_aim(struct waiter *waiter, uint64_t target_ticks, double lead_ticks, int exact);

/* track.c: when the event took place, relative to the target, as far as all evidence says. */
double waiter_event(const struct waiter *waiter, int exact);

/* wait.c: judge the last wait, if that has not been done. */
void waiter_settle(struct waiter *waiter);

/* How often the last approach waited for APPROACH_LONGER instructions before its run. */
int waiter_turns(const struct waiter *waiter);

/* Did the polls of the last approach take longer than lately? */
int waiter_shares_core(struct waiter *waiter);

/* Learn from the last approach, if it was exact and undisturbed. */
void waiter_track(struct waiter *waiter);

/* A delay of so many ticks by a wait, from now. */
int waiter_delay(struct timebase_waiter *waiter, double ticks, unsigned flags,
                 struct timebase_wait_result *result);

/* The CPU this thread is on, or -1. */
int waiter_current_cpu(const struct waiter *waiter);

#endif
