/* SPDX-License-Identifier: MIT */
/*
 * servo: the one loop that keeps a page right.
 *
 *     sample ─► observe ─► estimate ─► plan ─► publish ─► readers
 *
 * The private clock of a process, the daemon, the simulator in virtual time, a kernel module and an
 * image without an operating system run this code. What differs between them comes in through
 * struct servo_outside. The servo itself reads no clock, calls no system, allocates nothing and
 * uses no floating point.
 *
 *     struct servo servo = {0};                              or servo_adopt(&servo, ...)
 *     loop:
 *         result = servo_step(&servo, &outside);
 *         wait servo_wait_ns(&servo, &outside, result), or until somebody wants new lines
 *
 * One thread at a time is the caller's duty.
 */
#ifndef SERVO_SERVO_H
#define SERVO_SERVO_H

#include <stdbool.h>
#include <stdint.h>

#include "cadence.h"
#include "clock/discipline/discipline.h"

/* What a servo stands on. Only ticks, sample, page and cadence are needed; others may be NULL. */
struct servo_outside {
    void *context; /* of the calls below */
    /* The counter, read after all earlier loads. */
    uint64_t (*ticks)(void *context);
    /* One look at the reference: TIMEBASE_OK or an error. */
    int (*sample)(void *context, struct discipline_sample *sample);
    /* Before the sample is observed: what others know about it. May call servo_disrupt(). */
    void (*amend)(void *context, struct discipline_sample *sample);
    /* Bring the newest publication to readers elsewhere. 0, or -1: they do not have it. */
    int (*store)(void *context, const struct timebase_page *page);
    /* The counts of the page have changed since. */
    void (*store_counts)(void *context, const struct timebase_page *page);
    /* Readers have these lines from this tick on. `is_disrupted`: the lines before these end there.
     */
    void (*record)(void *context, const struct timebase_lines *lines, uint64_t published_ticks,
                   bool is_disrupted);
    struct timebase_page *page; /* where the lines are published */
    struct cadence cadence;
};

/* Since the servo began. */
struct servo_counts {
    uint64_t samples;
    uint64_t reference_failures;
    uint64_t publications;
    uint64_t late_publications; /* readers may have used the old line beyond its last tick */
    uint64_t store_failures;
    uint64_t utc_steps;
    int64_t last_utc_step_ns; /* new - old offset */
    uint64_t slews;           /* publications with more than SERVO_SLEW_NS to correct */
    uint64_t suspends;
    uint64_t jumps; /* counter against reference; those of a suspend are not among them */
    uint64_t backwards;
    uint64_t rate_changes;
    uint64_t disruptions; /* jumps, backwards, and what servo_disrupt() told */
    uint64_t leaps;       /* leap seconds that the system clock has made */
};

/* What the clock is off before its correction is counted as a slew. */
#define SERVO_SLEW_NS 1000

enum servo_result {
    SERVO_PUBLISHED,
    SERVO_TOO_EARLY,    /* the present lines have not begun, or are about to be handed over */
    SERVO_LEARNING,     /* not enough samples for lines */
    SERVO_NO_REFERENCE, /* no sample; the lines that there are go on */
    SERVO_NOT_STORED,
};

struct servo {
    struct discipline discipline;
    struct servo_counts counts;
    uint64_t interval_ns;   /* to the next step; grows from cadence.first_ns to max_ns */
    int64_t sampled_ns;     /* reference's monotonic time of the newest sample */
    int64_t offset_ns;      /* clock - reference at the newest sample */
    int64_t published_ns;   /* monotonic time of the newest publication */
    unsigned events;        /* enum discipline_event, of the newest step */
    unsigned unpublished;   /* disruptions that no publication has told readers yet */
    bool is_adopted;        /* and not yet compared with the reference */
    bool is_told_disrupted; /* servo_disrupt() since the last step */
    bool is_mark_due;       /* the lines recorded last are not to be extended */
};

/* One turn of the loop. */
enum servo_result servo_step(struct servo *servo, const struct servo_outside *outside);

/* How long to wait after a step that ended so. */
uint64_t servo_wait_ns(const struct servo *servo, const struct servo_outside *outside,
                       enum servo_result result);

/*
 * Go on with the lines of outside->page, which is valid and of this counter, instead of beginning
 * afresh. False, and nothing has changed, if they do not fit the reference's time now: the page is
 * of another boot, another time namespace, or another machine; or this one has slept meanwhile, or
 * was disrupted.
 */
bool servo_adopt(struct servo *servo, const struct servo_outside *outside);

/* The state was half-written when its thread ended: make it anew from the page, which is whole. */
void servo_mend(struct servo *servo, const struct timebase_page *page);

/* The page was cleared: forget what led to its lines. Counts and the allowed drift stay. */
void servo_reset(struct servo *servo);

/* Tell that the counter's past is no guide to its future. The next step deals with it. */
void servo_disrupt(struct servo *servo);

/* The last tick for which anybody may have been told a time by the lines of this page. */
uint64_t servo_followed_ticks(const struct timebase_page *page);

#endif
