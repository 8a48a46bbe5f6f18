/* SPDX-License-Identifier: MIT */
#include "straight_run.h"

/* Points further apart than this are all kept; the run then spans some 1.6 s. */
#define SPACING_NS 100000000
/* A wide point is kept all the same if the last kept point is older than this. */
#define PATIENCE_NS 1000000000
/* Scatter of middles beyond half the usual width, ns: the clock's own rounding. */
#define SCATTER_NS 2

struct fixed run_slope(const struct estimator_point *a, const struct estimator_point *b,
                       uint64_t *error_frac)
{
    uint64_t ticks = b->ticks - a->ticks;
    struct fixed error = fixed_over(fixed_from_ns((int64_t)(a->width_ns + b->width_ns + 1)), ticks);
    *error_frac = error.ns > 0 ? UINT64_MAX : error.frac;
    return fixed_over(fixed_from_ns(b->ns - a->ns), ticks);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* How far a middle may lie from the true line: usual scatter, and all that is unusual in it. */
static uint64_t tolerance(const struct estimator *estimator, const struct estimator_point *point)
{
    uint64_t usual = estimator->best_width_ns;
    uint64_t unusual = point->width_ns > usual ? point->width_ns - usual : 0;
    return usual / 2 + SCATTER_NS + unusual;
}

/* Do all kept points from `first` on lie on the line from there to the newest? */
static bool is_straight(const struct estimator *estimator, unsigned first,
                        const struct estimator_point *newest)
{
    const struct estimator_point *start = &estimator->points[first];
    uint64_t error_frac;
    struct fixed period = run_slope(start, newest, &error_frac);
    uint64_t ends = tolerance(estimator, start) + tolerance(estimator, newest);
    for (unsigned i = first + 1; i < estimator->count; i++) {
        const struct estimator_point *point = &estimator->points[i];
        int64_t line = start->ns + fixed_times(period, point->ticks - start->ticks).ns;
        if (run_distance(line, point->ns) > ends + tolerance(estimator, point))
            return false;
    }
    return true;
}

static void drop_oldest(struct estimator *estimator, unsigned drop)
{
    estimator->count -= drop;
    for (unsigned i = 0; i < estimator->count; i++)
        estimator->points[i] = estimator->points[i + drop];
}

bool run_cut(struct estimator *estimator, const struct estimator_point *newest)
{
    unsigned first = 0;
    while (first + 1 < estimator->count && !is_straight(estimator, first, newest))
        first++;
    drop_oldest(estimator, first);
    return first > 0;
}

/*
 * Early points stand close together, later ones SPACING_NS apart, so that the run is always
 * about as long as 16 points can make it. Disturbed points are left out while there are others.
 */
void run_keep(struct estimator *estimator, const struct estimator_point *point)
{
    if (estimator->count > 0) {
        int64_t age = point->ns - estimator->points[estimator->count - 1].ns;
        int64_t run = point->ns - estimator->points[0].ns;
        int64_t spacing = run / 8 < SPACING_NS ? run / 8 : SPACING_NS;
        bool is_wide = point->width_ns > 2 * estimator->best_width_ns + SCATTER_NS;
        if (age < spacing || (is_wide && age < PATIENCE_NS))
            return;
    }
    if (estimator->count == ESTIMATOR_POINTS)
        drop_oldest(estimator, 1);
    estimator->points[estimator->count++] = *point;
}

/*
 * Without a run nothing is known of the pace: what emptied the run made the past worthless.
 */
void run_note(struct estimator *estimator, const struct estimator_point *told)
{
    static const struct pace unknown;
    estimator->slew_limit_ppm = larger(estimator->slew_limit_ppm, told->slew_limit_ppm);
    if (estimator->count == 0) {
        estimator->utc = unknown;
        return;
    }
    struct estimator_point *last = &estimator->points[estimator->count - 1];
    last->growth_ppb = larger(last->growth_ppb, told->growth_ppb);
    last->slew_limit_ppm = larger(last->slew_limit_ppm, told->slew_limit_ppm);
}

/*
 * A slope is the mean of the reference's paces along its run. So it is from UTC's by no more than
 * the largest difference that was told along the run, however long ago.
 */
uint64_t run_told(const struct estimator *estimator, struct fixed period)
{
    uint32_t largest_ppb = 0;
    for (unsigned i = 0; i < estimator->count; i++)
        largest_ppb = larger(largest_ppb, estimator->points[i].growth_ppb);
    return pace_part(period, largest_ppb);
}

/* In the same way: any of the paces along the run may differ by this much from the pace to come. */
static uint32_t limit_along_run(const struct estimator *estimator)
{
    uint32_t largest_ppm = 0;
    for (unsigned i = 0; i < estimator->count; i++)
        largest_ppm = larger(largest_ppm, estimator->points[i].slew_limit_ppm);
    return largest_ppm;
}

static uint64_t growth_of(struct estimator *estimator, struct fixed period, uint64_t error_frac)
{
    uint64_t limit_ppb = (uint64_t)limit_along_run(estimator) * 1000;
    struct pace_slope slope = {period, error_frac, run_told(estimator, period),
                               pace_part(period, limit_ppb)};
    return pace_growth(&estimator->utc, &slope);
}

/*
 * The present slope stays, and is the run's to within `change` and the run's error: so the run
 * says, too, how far it can be from UTC's. The smaller counts.
 */
static void learn_growth(struct estimator *estimator, struct fixed change, uint64_t error_frac,
                         uint64_t growth_frac)
{
    uint64_t from_utc = pace_add(pace_add(change.frac, error_frac), growth_frac);
    uint64_t known = estimator->period_error_frac;
    uint64_t rest = from_utc > known ? from_utc - known : 0;
    if (change.ns == 0 && from_utc < UINT64_MAX && rest < estimator->growth_frac)
        estimator->growth_frac = rest;
}

/*
 * Take the run's slope, unless it is both less certain than the present one and compatible with it:
 * two points a millisecond apart must not replace what a second of points has shown.
 */
void run_adopt_slope(struct estimator *estimator, const struct estimator_point *newest)
{
    uint64_t error_frac;
    /* No point kept yet (a slope taken over), or a reference that has not moved: no slope. */
    if (estimator->count == 0 || newest->ns <= estimator->points[0].ns)
        return;
    struct fixed period = run_slope(&estimator->points[0], newest, &error_frac);
    struct fixed change = fixed_abs(fixed_subtract(period, estimator->period));
    bool is_compatible = change.ns == 0 && change.frac <= error_frac;
    bool is_worse = is_compatible && error_frac > estimator->period_error_frac;
    uint64_t growth_frac = growth_of(estimator, period, error_frac);
    if (estimator->ready && (is_worse || error_frac == UINT64_MAX)) {
        learn_growth(estimator, change, error_frac, growth_frac);
        return;
    }
    estimator->period = period;
    estimator->period_error_frac = error_frac;
    estimator->slope_ticks = newest->ticks - estimator->points[0].ticks;
    estimator->growth_frac = growth_frac;
    estimator->slew_limit_ppm = limit_along_run(estimator);
}

bool run_has_good_slope(const struct estimator_point *a, const struct estimator_point *b)
{
    uint64_t error_frac;
    struct fixed period = run_slope(a, b, &error_frac);
    struct fixed limit = fixed_over(period, 500);
    return error_frac < UINT64_MAX && (limit.ns > 0 || error_frac <= limit.frac);
}
