/* SPDX-License-Identifier: MIT */
/*
 * shared_clock: the page that all processes read, and the servo that keeps it. Its lines begin a
 * lead after they are stored, which is longer than the lease for which readers may use a copy of
 * the page (TIMEBASE_PAGE_LEASE_NS). So all readers have them before their first tick.
 *
 *     shared_clock_start(&clock, &outside, ...)      then, with a page of the daemon before:
 *     shared_clock_adopt(&clock, &page)
 *     loop:
 *         result = shared_clock_step(&clock)
 *         wait shared_clock_wait_ns(&clock, result), or until the system clock was set
 *
 * Counter, reference, store and timeline come from outside, so that it also runs in virtual time.
 * It prints nothing and waits for nothing.
 */
#ifndef DAEMON_SHARED_CLOCK_H
#define DAEMON_SHARED_CLOCK_H

#include "clock/reference/reference.h"
#include "clock/servo/servo.h"
#include "sources/sources.h"

struct shared_clock_outside {
    uint64_t (*ticks)(void *context);
    const struct reference *reference;
    void *reference_context;
    /* As in struct servo_outside. */
    int (*store)(void *context, const struct timebase_page *page);
    void (*store_counts)(void *context, const struct timebase_page *page);
    void (*record)(void *context, const struct timebase_lines *lines, uint64_t published_ticks,
                   bool is_disrupted);
    /* What the caller knows of the machine, into a sample; NULL: nothing. */
    void (*amend)(void *context, struct discipline_sample *sample);
    void *context; /* of the five calls */
    struct sources *sources; /* what is known of true UTC; NULL: the sample's own word */
};

struct shared_clock {
    struct servo servo;
    struct timebase_page page; /* as it is, or is to be, in the file */
    struct shared_clock_outside outside;
    uint64_t interval_ns; /* the poll interval as configured */
    uint64_t disruptions_told; /* of those that the sources have seen */
    bool is_disrupted;  /* shared_clock_disrupt() since the last sample */
    bool has_seen_one;  /* a source has seen a disruption since the last sample */
};

void shared_clock_start(struct shared_clock *clock, const struct shared_clock_outside *outside,
                        uint64_t interval_ns, uint32_t drift_ppb);

/*
 * Instead of beginning afresh go on with this page, which is valid and of this counter. False if
 * it does not fit the reference's time now, and nothing has changed.
 */
bool shared_clock_adopt(struct shared_clock *clock, const struct timebase_page *page);

enum servo_result shared_clock_step(struct shared_clock *clock);

/*
 * Tell that the machine was disrupted. The next step publishes it, and no source is believed before
 * it has measured again.
 */
void shared_clock_disrupt(struct shared_clock *clock);

/* How long to wait after a step that ended so. */
uint64_t shared_clock_wait_ns(struct shared_clock *clock, enum servo_result result);

/* Poll interval and the oscillator's allowance, for the next publication on. */
void shared_clock_set(struct shared_clock *clock, uint64_t interval_ns, uint32_t drift_ppb);

/* The page's word about this moment; false if there are no lines yet. */
bool shared_clock_now(const struct shared_clock *clock, struct timebase_instant *instant);

#endif
