/* SPDX-License-Identifier: MIT */
/*
 * estimator: where the reference clock is, and how fast it goes, from points of it.
 *
 * A point says: at some tick within +/- width of `ticks` the reference showed `ns`. The estimate
 * is a straight line through the newest point; its slope comes from the longest run of
 * points that lie on one straight line as closely as their widths allow. When the reference
 * changes its rate, the run is cut and the newest points decide.
 *
 * Pure: no clock is read here, the caller's points are all it knows.
 */
#ifndef DISCIPLINE_ESTIMATOR_H
#define DISCIPLINE_ESTIMATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/line/fixed.h"
#include "pace.h"
#include "scatter.h"

#define ESTIMATOR_POINTS 16

struct estimator_point {
    uint64_t ticks;    /* middle of the bracket */
    int64_t ns;        /* what the reference showed within it */
    uint64_t width_ns; /* half of the bracket and all other doubt: bracket.c */
    /* Of a kept point: the reference's pace, from here to the next one, is that of true UTC to
     * within so many parts in 10^9. */
    uint32_t growth_ppb;
    uint32_t slew_limit_ppm; /* its pace changes by no more until then */
};

struct estimator {
    struct estimator_point points[ESTIMATOR_POINTS]; /* oldest first */
    unsigned count;
    struct estimator_point newest; /* the last one seen, kept or not */
    /* The estimate: reference(t) = value + (t - newest.ticks) * period. */
    bool ready;
    struct fixed value;
    struct fixed period;        /* ns of the reference per tick */
    uint64_t period_error_frac; /* period is wrong by no more than this, 2^-64 ns per tick */
    uint64_t slope_ticks;       /* between the points that told it; 0: others told it */
    struct pace utc;            /* the best slope that was true UTC's */
    uint64_t growth_frac;       /* period is UTC's to within the error and this; 2^-64 ns per tick,
                                 * saturated */
    uint32_t slew_limit_ppm;    /* the most that was told along the run of `period`, and since */
    uint64_t error_ns;          /* value is wrong by no more than this */
    struct scatter scatter;     /* what the samples say of the error */
    uint64_t best_width_ns;     /* what an undisturbed point's width is here */
    bool has_jumped;            /* the newest point did, or went back */
    bool has_slept;             /* the reference stood still before the point that comes next */
    bool has_fitted;            /* the next point is within the bound of lines taken up: no jump */
    uint32_t drift_ppm;         /* the oscillator's allowance; 0: ASSUME_DRIFT_PPM */
};

enum estimator_event {
    ESTIMATOR_WAIT,         /* not enough points for a slope */
    ESTIMATOR_FOLLOWED,     /* all is well */
    ESTIMATOR_RATE_CHANGED, /* the run of points was cut */
    ESTIMATOR_JUMPED,       /* beyond what any slewing reference does: started afresh */
    ESTIMATOR_BACKWARDS,    /* the counter went back: started afresh */
};

enum estimator_event estimator_observe(struct estimator *estimator,
                                       const struct estimator_point *point);

/* The oscillator's allowance in force, parts in a million. */
uint32_t estimator_drift_ppm(const struct estimator *estimator);

/* The reference at a tick not before the newest point. */
struct fixed estimator_at(const struct estimator *estimator, uint64_t ticks);

/*
 * Is a difference between prediction and reference after elapsed_ns too large for a reference
 * that slews? The kernel's clock can be made to run 10 % off (adjtimex, ADJ_TICK); what is beyond
 * that and a millisecond is the counter's doing.
 */
bool estimator_is_jump(int64_t difference_ns, int64_t elapsed_ns);

#endif
