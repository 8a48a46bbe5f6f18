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
#include "sample.h"
#include "status.h"

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
    uint64_t refresh_ticks; /* of the plan: readers leave its last line after twice as many */
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
 * Before the lines are held: the flags of the sample that failed. If they have COUNTER_DISTRUSTED,
 * the held lines are UNRELIABLE and have it too.
 */
void discipline_hear_distrust(struct discipline *discipline, uint32_t flags);

/* Between two looks at the time asleep (struct discipline_sample), more than the looking itself. */
bool discipline_was_asleep(int64_t then_suspended_ns, int64_t suspended_ns);

/*
 * Before a sample is observed: does it show a step of UTC (DISCIPLINE_UTC_STEPPED) or a sleep
 * (DISCIPLINE_SUSPENDED) since the newest one?
 */
unsigned discipline_compare(const struct discipline *discipline,
                            const struct discipline_sample *sample);

/*
 * Somebody outside knows that the machine was disrupted (vmclock's marker has changed, the kernel
 * has given up the counter), though counter and reference have not parted so far that a sample
 * shows it. The points that told the counter's pace, or were to tell it, are forgotten, and it is
 * trusted by 500 ppm less; readers are told UNRELIABLE for as long as after a jump. To be called
 * before the next sample is observed, or the lines are held.
 */
void discipline_distrust(struct discipline *discipline);

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
 * Take up published lines whose exact state was lost (after fork, or a restart). Nothing else that
 * *discipline held counts any more, but for what is allowed.
 */
void discipline_adopt(struct discipline *discipline, const struct timebase_lines *lines);

/*
 * Is the reference where the lines in force have it, within their own bound and a millisecond? Lines
 * that nobody kept for a while may be off by what they say of themselves, and by no more; and their
 * pace by an eighth.
 */
bool discipline_fits(const struct discipline *discipline, const struct discipline_sample *sample);

/* The status that readers are told. */
enum timebase_status discipline_status(const struct discipline *discipline);

#endif
