/* SPDX-License-Identifier: MIT */
/*
 * waiter: what is inside a struct timebase_waiter, on a boundary of 128 bytes in its storage.
 *
 * The files of this folder form layers. A file calls those of the layers below its own; x.c and x.h
 * count as one file.
 *
 *     wait  lifecycle  describe   the public functions
 *     calibration                 what a calibration learns, step by step
 *     calibration_call            ... from whole waits and delays
 *     calibration_event           ... from approaches
 *     calibration_readings        ... from the counter
 *     delay                       instructions, or a fine reading and a wait
 *     stages                      one wait: sleep, poll, prepare, approach, settle
 *     prepare  outcome            warming the caches; what became of a wait
 *     track                       what a wait teaches
 *     waiter  calibration_trial   this structure; random targets
 *     approach*  evidence  margin  quantile  relax*  sleep  steady  table  vernier  wait_names
 *                                 know no waiter
 *
 * docs/architecture.md ("The life of a wait") has the way of a wait through them.
 *
 * Instants within a wait are doubles in ticks relative to its target, so they are small
 * and exact to a fraction of a tick. A "step" is what the counter jumps by.
 */
#ifndef WAIT_WAITER_H
#define WAIT_WAITER_H

#include <stddef.h>

#include <timebase/wait.h>

#include "approach.h"
#include "evidence.h"
#include "sleep.h"
#include "steady.h"
#include "vernier.h"

#define WAITER_MAGIC UINT64_C(0x7469636b77616974) /* "tickwait" */

/* Delays by instructions: without readings; with two; with two, evidence and a result. */
enum delay_kind { DELAY_BARE, DELAY_FOLLOWED, DELAY_MEASURED, DELAY_KINDS };

/* What calibration learns; ticks unless said otherwise. */
struct waiter_learnt {
    double period_ns;         /* of a tick */
    double instruction_ticks; /* one instruction of the run */
    double shortest_ticks;    /* first reading to event with the shortest run */
    double longest_ticks;     /* and with the longest */
    double coarse_ticks;      /* the polling loop ends this long before the event */
    double longer_quarters;   /* approach.longer_quarters before rounding */
    double coarse_most_ticks; /* and never longer */
    double poll_ticks;        /* one poll of the approach, as fast as lately; 0: not known yet */
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
    double delay_read_ticks[DELAY_KINDS];  /* from reading to reading, without the instructions */
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
    double aim;      /* when the event should be, relative to ticks */
    unsigned flags;
    int exact;
    int is_unsteady;          /* it is polled only because the core is shared */
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

/* Null if it is none that was initialised. */
static inline struct waiter *waiter_checked(const struct timebase_waiter *public)
{
    if (public == NULL)
        return NULL;
    struct waiter *waiter = waiter_within((struct timebase_waiter *)(uintptr_t) public);
    return waiter->magic == WAITER_MAGIC ? waiter : NULL;
}

static inline int64_t waiter_ticks_of_ns(const struct waiter *waiter, double ns)
{
    return (int64_t)(ns / waiter->learnt.period_ns);
}

/* The instant that a reading stands for: the middle of its step. */
static inline double waiter_middle(const struct waiter *waiter, uint64_t ticks, uint64_t base)
{
    return (double)(int64_t)(ticks - base) + waiter->vernier.half_step_ticks;
}

/* A fine reading, by the vernier where there is one. */
int waiter_read_fine(const struct waiter *waiter, uint64_t base_ticks,
                     struct timebase_fine_reading *out);

/* Set the approach up for an event at target + lead: exact, or by polling. */
void waiter_aim(struct waiter *waiter, uint64_t target_ticks, double lead_ticks, int exact);

/* The target in ticks, as the clock sees it now. */
static inline void wait_convert(struct wait *wait)
{
    if (wait->ticks_at != NULL)
        wait->ticks = wait->ticks_at(wait->waiter->clock, wait->ns);
}

static inline int64_t wait_left_ticks(const struct wait *wait)
{
    return (int64_t)(wait->ticks - timebase_ticks());
}

#endif
