/* SPDX-License-Identifier: MIT */
#include "estimator.h"

#include "assumptions.h"

/* The slope needs a baseline: over 0.5 ms a bracket of 40 ns leaves an error of some 100 ppm. */
#define BASELINE_MIN_NS 500000
/* Points further apart than this are all kept; the run then spans some 1.6 s. */
#define SPACING_NS 100000000
/* A wide point is taken into the run all the same if the run is older than this. */
#define PATIENCE_NS 1000000000
/* Scatter of middles beyond half the usual width, ns: the clock's own rounding. */
#define SCATTER_NS 2

void estimator_reset(struct estimator *estimator)
{
    struct estimator empty = {.drift_ppm = estimator->drift_ppm};
    *estimator = empty;
}

uint32_t estimator_drift_ppm(const struct estimator *estimator)
{
    return estimator->drift_ppm != 0 ? estimator->drift_ppm : ASSUME_DRIFT_PPM;
}

struct fixed estimator_at(const struct estimator *estimator, uint64_t ticks)
{
    uint64_t d = ticks - estimator->newest.ticks;
    return fixed_add(estimator->value, fixed_times(estimator->period, d));
}

bool estimator_is_jump(int64_t difference_ns, int64_t elapsed_ns)
{
    int64_t limit = elapsed_ns / 10 + 1000000;
    return difference_ns > limit || difference_ns < -limit;
}

/* The slope between two points, and how wrong their widths let it be; UINT64_MAX: 1 ns or more. */
static struct fixed slope(const struct estimator_point *a, const struct estimator_point *b,
                          uint64_t *error_frac)
{
    uint64_t ticks = b->ticks - a->ticks;
    struct fixed error = fixed_over(fixed_from_ns((int64_t)(a->width_ns + b->width_ns + 1)), ticks);
    *error_frac = error.ns > 0 ? UINT64_MAX : error.frac;
    return fixed_over(fixed_from_ns(b->ns - a->ns), ticks);
}

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
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
    struct fixed period = slope(start, newest, &error_frac);
    uint64_t ends = tolerance(estimator, start) + tolerance(estimator, newest);
    for (unsigned i = first + 1; i < estimator->count; i++) {
        const struct estimator_point *point = &estimator->points[i];
        int64_t line = start->ns + fixed_times(period, point->ticks - start->ticks).ns;
        if (distance(line, point->ns) > ends + tolerance(estimator, point))
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

/* Cut the run until it is straight. The last kept point always stays. */
static bool cut(struct estimator *estimator, const struct estimator_point *newest)
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
static void keep(struct estimator *estimator, const struct estimator_point *point)
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
 * What was told since the last kept point holds from there on. Without a run nothing is known: what
 * emptied it made the past worthless.
 */
static void note_growth(struct estimator *estimator, uint32_t growth_ppb)
{
    static const struct pace unknown;
    if (estimator->count == 0) {
        estimator->utc = unknown;
        return;
    }
    struct estimator_point *last = &estimator->points[estimator->count - 1];
    if (last->growth_ppb < growth_ppb)
        last->growth_ppb = growth_ppb;
}

/*
 * A slope is the mean of the reference's paces along its run. So it is from UTC's by no more than
 * the largest difference that was told along the run, however long ago.
 */
static uint64_t told_along_run(const struct estimator *estimator, struct fixed period)
{
    uint32_t largest_ppb = 0;
    for (unsigned i = 0; i < estimator->count; i++)
        if (estimator->points[i].growth_ppb > largest_ppb)
            largest_ppb = estimator->points[i].growth_ppb;
    return pace_part(period, largest_ppb);
}

static uint64_t growth_of(struct estimator *estimator, struct fixed period, uint64_t error_frac)
{
    struct pace_slope slope = {period, error_frac, told_along_run(estimator, period)};
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
static void adopt_slope(struct estimator *estimator, const struct estimator_point *newest)
{
    uint64_t error_frac;
    /* No point kept yet (a slope taken over), or a reference that has not moved: no slope. */
    if (estimator->count == 0 || newest->ns <= estimator->points[0].ns)
        return;
    struct fixed period = slope(&estimator->points[0], newest, &error_frac);
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
    estimator->growth_frac = growth_frac;
}

/* The usual width follows improvements at once and forgets them slowly. */
static void learn_width(struct estimator *estimator, uint64_t width_ns)
{
    uint64_t usual = estimator->best_width_ns;
    estimator->best_width_ns = usual == 0 || width_ns < usual ? width_ns : usual + usual / 64 + 1;
    if (estimator->best_width_ns > width_ns)
        estimator->best_width_ns = width_ns;
}

/* Begin again with this point; a known period is kept, but trusted by 500 ppm less. */
static void restart(struct estimator *estimator, const struct estimator_point *point)
{
    static const struct pace unknown;
    estimator->count = 0;
    estimator->utc = unknown;
    estimator->has_jumped = true;
    keep(estimator, point);
    estimator->newest = *point;
    estimator->value = fixed_from_ns(point->ns);
    estimator->error_ns = point->width_ns + 1;
    estimator->period_error_frac =
        pace_add(estimator->period_error_frac, pace_part(estimator->period, 500000) + 1);
}

/* A first slope must be good to a part in 500; if it is not, wait for a longer baseline. */
static bool has_good_slope(const struct estimator_point *a, const struct estimator_point *b)
{
    uint64_t error_frac;
    struct fixed period = slope(a, b, &error_frac);
    struct fixed limit = fixed_over(period, 500);
    return error_frac < UINT64_MAX && (limit.ns > 0 || error_frac <= limit.frac);
}

/* Begin the baseline here if this point is much better than the one it began with. */
static void maybe_begin_here(struct estimator *estimator, const struct estimator_point *point)
{
    if (estimator->count > 0 && point->width_ns * 2 >= estimator->points[0].width_ns)
        return;
    estimator->count = 0;
    keep(estimator, point);
}

static enum estimator_event begin(struct estimator *estimator, const struct estimator_point *point)
{
    const struct estimator_point *first = &estimator->points[0];
    bool is_long = estimator->count > 0 && point->ns - first->ns >= BASELINE_MIN_NS;
    if (is_long && has_good_slope(first, point)) {
        adopt_slope(estimator, point);
        keep(estimator, point);
        estimator->value = fixed_from_ns(point->ns);
        estimator->error_ns = point->width_ns + 1;
        estimator->ready = true;
    } else {
        maybe_begin_here(estimator, point);
    }
    estimator->newest = *point;
    return estimator->ready ? ESTIMATOR_FOLLOWED : ESTIMATOR_WAIT;
}

/* Two processors' counters differ by less; two jumps in a row, of hours perhaps, by more. */
static bool is_some_counter(struct fixed period, struct fixed known)
{
    return fixed_less(fixed_over(period, 8), known) && fixed_less(fixed_over(known, 8), period);
}

/*
 * A jump right after a jump: not the count but the rate has changed, and is learnt anew. Across one
 * jump alone a slope means nothing.
 */
static void restart_after_jump(struct estimator *estimator, const struct estimator_point *point)
{
    struct estimator_point last = estimator->newest;
    bool is_rate = estimator->has_jumped && point->ns - last.ns >= BASELINE_MIN_NS &&
        has_good_slope(&last, point);
    uint64_t error_frac;
    struct fixed period = is_rate ? slope(&last, point, &error_frac) : estimator->period;
    uint64_t told_frac = told_along_run(estimator, period);
    restart(estimator, point);
    if (is_rate && is_some_counter(period, estimator->period)) {
        estimator->period = period;
        estimator->period_error_frac = error_frac;
        estimator->growth_frac = told_frac;
    }
}

/*
 * The newest point's middle is believed, less what its bracket is wider than usual: a point that
 * was interrupted moves the estimate only as far as it must.
 */
static struct fixed corrected(const struct estimator *estimator, struct fixed predicted,
                              const struct estimator_point *point)
{
    struct fixed change = fixed_subtract(fixed_from_ns(point->ns), predicted);
    uint64_t usual = estimator->best_width_ns;
    struct fixed unusual =
        fixed_from_ns((int64_t)(point->width_ns > usual ? point->width_ns - usual : 0));
    if (fixed_less(fixed_abs(change), unusual))
        return predicted;
    if (fixed_is_negative(change))
        return fixed_add(fixed_from_ns(point->ns), unusual);
    return fixed_subtract(fixed_from_ns(point->ns), unusual);
}

/*
 * How far the reference can have gone from its old pace since the sample before, beyond what the
 * oscillator did: as assumed, or as far as two paces may be apart that are told to be further than
 * that from UTC's.
 */
static uint64_t slewed_ns(const struct estimator *estimator, const struct estimator_point *point,
                          int64_t elapsed_ns)
{
    uint64_t us = (uint64_t)elapsed_ns / 1000 + 1, ticks = point->ticks - estimator->newest.ticks;
    uint64_t assumed_ns = us * ASSUME_SLEW_PPM / 1000 + 1;
    uint64_t old_ns = timebase_multiply_high(ticks, estimator->growth_frac) + 1;
    uint64_t new_ns = us * (point->growth_ppb / 1000 + 1) / 1000 + 1;
    bool is_as_assumed = old_ns <= assumed_ns && new_ns <= assumed_ns + us / 1000 + 1;
    return is_as_assumed ? assumed_ns : old_ns + new_ns;
}

/*
 * The estimate is wrong by no more than the point's width and its distance from the point's middle;
 * nor by more than it was before, with what may have happened since. If the point contradicts the
 * prediction more than happened by that, the past says nothing: the reference has done what is not
 * allowed for, and true UTC has not.
 */
static uint64_t error_ns(const struct estimator *estimator, struct fixed predicted,
                         const struct estimator_point *point, int64_t elapsed_ns)
{
    uint64_t by_point = distance(fixed_round(estimator->value), point->ns) + point->width_ns + 2;
    uint64_t slope_ns = timebase_multiply_high(point->ticks - estimator->newest.ticks,
                                               estimator->period_error_frac);
    uint64_t ppm = estimator_drift_ppm(estimator);
    uint64_t drift_ns = (uint64_t)elapsed_ns / 1000000 * ppm + ppm;
    uint64_t slew_ns = slewed_ns(estimator, point, elapsed_ns);
    uint64_t by_past = estimator->error_ns + slope_ns + drift_ns + slew_ns;
    bool is_contradicted = distance(fixed_round(predicted), point->ns) > by_past + point->width_ns;
    return by_point < by_past || is_contradicted ? by_point : by_past;
}

/* What the new point has corrected. */
static void learn_scatter(struct estimator *estimator, struct fixed predicted,
                          const struct estimator_point *point, int64_t elapsed_ns)
{
    struct scatter_sample sample;
    sample.correction = fixed_subtract(estimator->value, predicted);
    sample.ticks = point->ticks - estimator->newest.ticks;
    sample.elapsed_ns = (uint64_t)elapsed_ns;
    sample.width_ns = 2 * estimator->best_width_ns;
    sample.slope_ns = timebase_multiply_high(sample.ticks, estimator->period_error_frac);
    scatter_learn(&estimator->scatter, &sample);
}

enum estimator_event estimator_observe(struct estimator *estimator,
                                       const struct estimator_point *point)
{
    learn_width(estimator, point->width_ns);
    note_growth(estimator, point->growth_ppb);
    if (estimator->count > 0 && (int64_t)(point->ticks - estimator->newest.ticks) <= 0) {
        restart(estimator, point);
        return ESTIMATOR_BACKWARDS;
    }
    if (!estimator->ready)
        return begin(estimator, point);

    struct fixed predicted = estimator_at(estimator, point->ticks);
    int64_t elapsed_ns = predicted.ns - estimator->value.ns;
    /* No slew excuses what a machine asleep has missed, however short against the time elapsed. */
    int64_t slewing_ns = estimator->has_slept ? 0 : elapsed_ns;
    estimator->has_slept = false;
    if (estimator_is_jump(point->ns - predicted.ns, slewing_ns)) {
        restart_after_jump(estimator, point);
        return ESTIMATOR_JUMPED;
    }
    estimator->has_jumped = false;
    estimator->value = corrected(estimator, predicted, point);
    estimator->error_ns = error_ns(estimator, predicted, point, elapsed_ns);
    learn_scatter(estimator, predicted, point, elapsed_ns);
    bool was_cut = cut(estimator, point);
    adopt_slope(estimator, point);
    keep(estimator, point);
    estimator->newest = *point;
    return was_cut ? ESTIMATOR_RATE_CHANGED : ESTIMATOR_FOLLOWED;
}
