/* SPDX-License-Identifier: MIT */
/*
 * plan: the three lines that readers will follow, kept exactly; the published ones are rounded.
 *
 *      before ──────┐ start of slew: now + lead, on the line in force there
 *                   └─ slew ─┐ at most 500 ppm off the reference's pace
 *                            └─ after ───► the reference's own pace, for ever
 *
 * Pure.
 */
#ifndef DISCIPLINE_PLAN_H
#define DISCIPLINE_PLAN_H

#include <stdint.h>

#include "estimator.h"
#include "clock/line/lines.h"

struct segment {
    uint64_t start_ticks;
    struct fixed value; /* monotonic time at start_ticks */
    struct fixed period;
    int64_t utc_offset_ns; /* UTC - monotonic */
    /* What it was published with, the widest of each; as in struct timebase_line. */
    uint64_t maxerror_ns, utc_maxerror_ns, drift_rate, slew_rate;
};

struct plan {
    struct segment before, slew, after;
    struct fixed before_error; /* the largest |reference - before| from now to the hand-over */
    struct fixed error;        /* reference - plan at slew.start_ticks */
    struct fixed left_error;   /* what of it remains from after.start_ticks on */
};

/* When things happen, relative to now_ticks. All below 4 s. */
struct schedule {
    uint64_t now_ticks;
    uint64_t lead_ns;      /* from now to the start of the slew: time enough to publish */
    uint64_t slew_ns;      /* length of a slew with little to correct */
    uint64_t slew_max_ns;  /* and with much */
    uint64_t horizon_ns;   /* from now to when readers are to ask for the next lines */
    uint64_t before_ns;    /* `before` begins no longer ago; 0: others have copies of it */
    int64_t utc_offset_ns; /* of the new lines; the one in force keeps its own */
};

struct fixed segment_at(const struct segment *segment, uint64_t ticks);

/* What the segment's maxerror has grown to, so many ticks from its start. */
uint64_t segment_maxerror_ns(const struct segment *segment, uint64_t d);

/* The segment in force at a tick not before plan->before. */
const struct segment *plan_segment(const struct plan *plan, uint64_t ticks);

/* One line from start_ticks on, without a past. */
struct plan plan_begin(const struct estimator *estimator, uint64_t start_ticks, struct fixed value,
                       int64_t utc_offset_ns);

/*
 * The next lines after `plan`: towards the estimate, without a gap. `before` is the line in force
 * now, led on to the start of the slew even if it was to end earlier.
 */
struct plan plan_next(const struct plan *plan, const struct estimator *estimator,
                      const struct schedule *schedule);

/* The tick before which `next` must be published: later, readers follow `plan` past it. */
uint64_t plan_deadline(const struct plan *plan, const struct plan *next, uint64_t now_ticks);

/*
 * The next lines after a disruption: what readers follow now ends at now + lead, and the
 * estimate takes over there at once, but never below floor, nor below what readers follow.
 */
struct plan plan_restart(const struct plan *plan, const struct estimator *estimator,
                         const struct schedule *schedule, struct fixed floor);

#endif
