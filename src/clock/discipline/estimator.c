/* SPDX-License-Identifier: MIT */
#include "estimator.h"

#include "assumptions.h"
#include "straight_run.h"

#define FASTEST_TICKS_PER_NS 20 /* no counter is; a first slope beyond it is of a jump */
/* The slope needs a baseline: over 0.5 ms a bracket of 40 ns leaves an error of some 100 ppm. */
#define BASELINE_MIN_NS 500000

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
    estimator->has_slept = false;
    run_keep(estimator, point);
    estimator->newest = *point;
    estimator->value = fixed_from_ns(point->ns);
    estimator->error_ns = point->width_ns + 1;
    estimator->period_error_frac =
        pace_add(estimator->period_error_frac, pace_part(estimator->period, 500000) + 1);
}

/* Begin the baseline here if this point is much better than the one it began with. */
static void maybe_begin_here(struct estimator *estimator, const struct estimator_point *point)
{
    if (estimator->count > 0 && point->width_ns * 2 >= estimator->points[0].width_ns)
        return;
    estimator->count = 0;
    run_keep(estimator, point);
}

static enum estimator_event begin(struct estimator *estimator, const struct estimator_point *point)
{
    const struct estimator_point *first = &estimator->points[0];
    uint64_t ticks_max = (uint64_t)(point->ns - first->ns) * FASTEST_TICKS_PER_NS;
    if (estimator->has_slept || point->ticks - first->ticks > ticks_max)
        estimator->count = 0; /* asleep between the two, or a jump */
    bool is_long = estimator->count > 0 && point->ns - first->ns >= BASELINE_MIN_NS;
    if (is_long && run_has_good_slope(first, point)) {
        run_adopt_slope(estimator, point);
        run_keep(estimator, point);
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
 * If a jump follows right after a jump, not the count but the rate has changed, and is learnt anew.
 * A slope across a single jump means nothing. Nor does one across a sleep, because the sleep
 * explains the second jump.
 */
static void restart_after_jump(struct estimator *estimator, const struct estimator_point *point)
{
    struct estimator_point last = estimator->newest;
    bool is_rate = estimator->has_jumped && !estimator->has_slept &&
        point->ns - last.ns >= BASELINE_MIN_NS && run_has_good_slope(&last, point);
    uint64_t error_frac;
    struct fixed period = is_rate ? run_slope(&last, point, &error_frac) : estimator->period;
    uint64_t told_frac = run_told(estimator, period);
    restart(estimator, point);
    if (is_rate && is_some_counter(period, estimator->period)) {
        estimator->period = period;
        estimator->period_error_frac = error_frac;
        estimator->slope_ticks = point->ticks - last.ticks;
        estimator->growth_frac = told_frac;
    }
}

/*
 * The estimate moves to the newest point's middle, but stops short of it by as much as the point is
 * wider than usual. So a point that was interrupted moves the estimate only as far as it must.
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
 * How far the reference can have left its old pace since the sample before, beyond what the
 * oscillator did. As far as is assumed; or as it told, then or now, that its pace may change; or,
 * if its old or new pace was told to be further from UTC's than is assumed, by the sum of the two.
 */
static uint64_t slewed_ns(const struct estimator *estimator, const struct estimator_point *point,
                          int64_t elapsed_ns)
{
    uint64_t us = (uint64_t)elapsed_ns / 1000 + 1, ticks = point->ticks - estimator->newest.ticks;
    uint64_t assumed_ns = us * ASSUME_SLEW_PPM / 1000 + 1;
    uint64_t old_ns = timebase_multiply_high(ticks, estimator->growth_frac) + 1;
    uint64_t new_ns = us * (point->growth_ppb / 1000 + 1) / 1000 + 1;
    bool is_as_assumed = old_ns <= assumed_ns && new_ns <= assumed_ns + us / 1000 + 1;
    uint32_t old_ppm = estimator->newest.slew_limit_ppm, new_ppm = point->slew_limit_ppm;
    uint64_t told_ppm = old_ppm > new_ppm ? old_ppm : new_ppm;
    uint64_t told_ns = us * told_ppm / 1000 + 1;
    uint64_t apart_ns = is_as_assumed ? assumed_ns : old_ns + new_ns;
    return told_ns > apart_ns ? told_ns : apart_ns;
}

/*
 * The estimate is wrong by no more than the point's width and its distance from the point's middle.
 * Nor is it wrong by more than it was before and what may have happened since. If the point and the
 * prediction are further apart than these allow, the second does not count: the reference has
 * broken an assumption.
 */
static uint64_t error_ns(const struct estimator *estimator, struct fixed predicted,
                         const struct estimator_point *point, int64_t elapsed_ns)
{
    uint64_t by_point =
        run_distance(fixed_round(estimator->value), point->ns) + point->width_ns + 2;
    uint64_t slope_ns = timebase_multiply_high(point->ticks - estimator->newest.ticks,
                                               estimator->period_error_frac);
    uint64_t ppm = estimator_drift_ppm(estimator);
    uint64_t drift_ns = (uint64_t)elapsed_ns / 1000000 * ppm + ppm;
    uint64_t slew_ns = slewed_ns(estimator, point, elapsed_ns);
    uint64_t by_past = estimator->error_ns + slope_ns + drift_ns + slew_ns;
    bool is_contradicted =
        run_distance(fixed_round(predicted), point->ns) > by_past + point->width_ns;
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

/*
 * How far they are apart beyond what the slope, or lines that were taken up, may be wrong by, and
 * beyond the point's width: what interrupts a sample is no jump, however long it takes.
 */
static int64_t parted_ns(const struct estimator *estimator, struct fixed predicted,
                         const struct estimator_point *point)
{
    uint64_t ticks = point->ticks - estimator->newest.ticks;
    uint64_t slope_ns = timebase_multiply_high(ticks, estimator->period_error_frac);
    uint64_t size_ns = run_distance(point->ns, predicted.ns);
    uint64_t known_ns = pace_add(slope_ns, point->width_ns);
    return size_ns > known_ns && !estimator->has_fitted ? (int64_t)(size_ns - known_ns) : 0;
}

/*
 * Two samples right after one another may be of the same tick of a slow counter, or the second of
 * an earlier tick, on another CPU. The counter did not go back if both clocks differ by no more
 * than the samples' widths allow.
 */
static bool is_same_moment(const struct estimator *estimator, const struct estimator_point *point)
{
    uint64_t back = estimator->newest.ticks - point->ticks;
    int64_t widths_ns = (int64_t)(estimator->newest.width_ns + point->width_ns);
    int64_t later_ns = point->ns - estimator->newest.ns;
    return estimator->ready && estimator->count > 0 && later_ns >= 0 && later_ns <= widths_ns &&
        !fixed_less(fixed_over(fixed_from_ns(widths_ns), back + (back == 0)), estimator->period);
}

/* The point says nothing new of where the reference is, but what was told with it holds. */
static void pass_over(struct estimator *estimator, const struct estimator_point *point)
{
    uint64_t told_frac = run_told(estimator, estimator->period);
    if (estimator->growth_frac < told_frac)
        estimator->growth_frac = told_frac;
    if (estimator->newest.slew_limit_ppm < point->slew_limit_ppm)
        estimator->newest.slew_limit_ppm = point->slew_limit_ppm;
}

enum estimator_event estimator_observe(struct estimator *estimator,
                                       const struct estimator_point *point)
{
    learn_width(estimator, point->width_ns);
    run_note(estimator, point);
    /* discipline_distrust() may have emptied the run; the newest point is known all the same. */
    bool has_newest = estimator->ready || estimator->count > 0;
    if (has_newest && (int64_t)(point->ticks - estimator->newest.ticks) <= 0) {
        bool is_same = is_same_moment(estimator, point);
        (is_same ? pass_over : restart)(estimator, point);
        return is_same ? ESTIMATOR_FOLLOWED : ESTIMATOR_BACKWARDS;
    }
    if (!estimator->ready)
        return begin(estimator, point);

    struct fixed predicted = estimator_at(estimator, point->ticks);
    int64_t elapsed_ns = predicted.ns - estimator->value.ns;
    /* After a sleep, the time that passed does not excuse the difference: that is the sleep, no
     * slew. */
    int64_t slewing_ns = estimator->has_slept ? 0 : elapsed_ns;
    if (estimator_is_jump(parted_ns(estimator, predicted, point), slewing_ns)) {
        restart_after_jump(estimator, point);
        return ESTIMATOR_JUMPED;
    }
    estimator->has_jumped = false;
    estimator->has_slept = false;
    estimator->value = corrected(estimator, predicted, point);
    estimator->error_ns = error_ns(estimator, predicted, point, elapsed_ns);
    if (!estimator->has_fitted)
        learn_scatter(estimator, predicted, point, elapsed_ns);
    bool was_cut = run_cut(estimator, point);
    run_adopt_slope(estimator, point);
    run_keep(estimator, point);
    estimator->newest = *point;
    return was_cut ? ESTIMATOR_RATE_CHANGED : ESTIMATOR_FOLLOWED;
}
