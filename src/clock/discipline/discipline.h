/* SPDX-License-Identifier: MIT */
/*
 * discipline: samples of a reference in, lines for readers out.
 *
 *     struct discipline discipline = {0};
 *     loop:
 *         event = discipline_observe(&discipline, &sample);
 *         if (discipline_is_ready(&discipline)) {
 *             struct discipline_output output = discipline_plan(&discipline, &schedule, ...);
 *             ... publish output.lines before output.plan.slew.start_ticks ...
 *             discipline_commit(&discipline, &output);
 *         }
 *         ... and where there was no sample: discipline_hold(&discipline, now_ticks) ...
 *
 * Pure: no I/O, no clock is read, nothing is allocated. The library, the daemon, a kernel module
 * and a simulator in virtual time run this same code.
 */
#ifndef DISCIPLINE_DISCIPLINE_H
#define DISCIPLINE_DISCIPLINE_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/page.h>

#include "estimator.h"
#include "leap.h"
#include "plan.h"
#include "status.h"

/* One look at the reference. ns since boot or the epoch; ticks of the page's counter. */
struct discipline_sample {
    uint64_t ticks_before;      /* read before the reference */
    uint64_t ticks_after;       /* read after it */
    uint64_t step_ticks;        /* the counter shows no finer differences; 0 counts as 1 */
    uint64_t spread_ticks;      /* any two CPUs' counters differ by no more; 0: by nothing */
    int64_t mono_ns;            /* the reference's monotonic time, between the two */
    uint64_t reference_step_ns; /* it shows no finer differences; 0 counts as 1 */
    int64_t utc_offset_ns;      /* UTC - monotonic, exact */
    int64_t suspended_ns;       /* time spent asleep since boot: CLOCK_BOOTTIME - CLOCK_MONOTONIC */
    int64_t maxerror_ns;   /* |reference - true UTC|, as it says of itself: all its terms in it */
    uint32_t maxerror_ppb; /* growth of that with time: so far its pace may be from UTC's */
    uint32_t flags;        /* TIMEBASE_LINE_... but the status, and TAI offset: as in a line */
    bool is_synchronized;  /* the reference follows true UTC */
};

/* What a sample told; several may hold at once. */
enum discipline_event {
    DISCIPLINE_RATE_CHANGED = 1,
    DISCIPLINE_UTC_STEPPED = 2,
    DISCIPLINE_SUSPENDED = 4,
    DISCIPLINE_JUMPED = 8,     /* counter against reference, beyond any slew */
    DISCIPLINE_BACKWARDS = 16, /* the counter */
    DISCIPLINE_DISRUPTED = DISCIPLINE_JUMPED | DISCIPLINE_BACKWARDS,
};

struct discipline {
    struct estimator estimator;
    struct plan plan;
    bool has_plan;
    bool has_sample;
    struct discipline_sample first;  /* kept until the length of a tick is known */
    struct discipline_sample sample; /* the newest */
    int64_t previous_ns;             /* monotonic time of the sample before */
    unsigned events;                 /* of the newest sample */
    int64_t utc_step_ns;             /* size of the newest step, new - old */
    unsigned unreliable;             /* samples to go before the counter is trusted again */
    enum timebase_status status;
    bool is_holding;       /* no sample since the last plan */
    bool was_synchronized; /* in the sample before */
    uint32_t growth_ppb;   /* largest maxerror_ppb of the last samples */
    unsigned calm;         /* samples in a row that said less */
    struct leap leap;
};

struct discipline_output {
    struct plan plan;
    struct timebase_lines lines;
    uint64_t refresh_ticks;
};

/* Take a sample in. Returns the events it shows. */
unsigned discipline_observe(struct discipline *discipline, const struct discipline_sample *sample);

/* Are there points enough to draw a line? */
bool discipline_is_ready(const struct discipline *discipline);

/*
 * The next lines. After a disruption readers may have followed the present lines as far as
 * followed_ticks (and so the new ones start no lower than there).
 */
struct discipline_output discipline_plan(const struct discipline *discipline,
                                         const struct schedule *schedule, uint64_t followed_ticks);

/*
 * There is no sample this time, at now_ticks. Plan and publish all the same: until the next sample
 * the plan is the lines in force, for a longer time and with the new status. Nothing in them begins
 * anew, so no publication of them is late. Returns whether the status has changed.
 */
bool discipline_hold(struct discipline *discipline, uint64_t now_ticks);

/*
 * How far the oscillator may stray from its measured pace, parts in a million; 0: as assumed,
 * ASSUME_DRIFT_PPM. For all lines planned from now on, until changed.
 */
void discipline_allow_drift(struct discipline *discipline, uint32_t drift_ppm);

/* Forget everything but what is allowed. */
void discipline_reset(struct discipline *discipline);

/* The output has been published: the next plan starts from it. */
void discipline_commit(struct discipline *discipline, const struct discipline_output *output);

/*
 * Take up published lines whose exact state was lost (after fork, or a restart). Nothing that
 * *discipline held counts any more: what is allowed is to be allowed again.
 */
void discipline_adopt(struct discipline *discipline, const struct timebase_lines *lines);

/* The status that readers are told. */
enum timebase_status discipline_status(const struct discipline *discipline);

#endif
