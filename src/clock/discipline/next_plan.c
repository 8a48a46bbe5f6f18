/* SPDX-License-Identifier: MIT */
#include "next_plan.h"

#include "bound.h"
#include "bracket.h"

/*
 * A line that begins with the newest sample, for when nobody follows an older line. It takes the
 * reference's reading for the tick before that reading, and so runs ahead by a part of the bracket.
 * So readers who got the time from the reference itself a moment earlier are behind the line.
 */
static struct plan plan_afresh(const struct discipline *discipline, struct fixed floor)
{
    const struct discipline_sample *sample = &discipline->sample;
    struct fixed reference = fixed_from_ns(sample->mono_ns);
    struct fixed value = fixed_less(reference, floor) ? floor : reference;
    struct plan plan =
        plan_begin(&discipline->estimator, sample->ticks_before, value, sample->utc_offset_ns);
    uint64_t ahead = bracket_ticks(sample);
    plan.error = fixed_subtract(fixed_subtract(reference, value),
                                fixed_times(discipline->estimator.period, ahead));
    plan.before_error = plan.error;
    plan.left_error = plan.error;
    return plan;
}

static uint64_t ticks_of(struct fixed period, int64_t ns)
{
    uint64_t whole = ns > 0 ? (uint64_t)ns : 0, second = 1000000000;
    return fixed_ticks(period, second) * (whole / second) + fixed_ticks(period, whole % second);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The bound of a line after so many ticks, or where readers left it, if that was sooner. */
static uint64_t grown(const struct discipline *discipline, const struct segment *segment,
                      uint64_t ticks)
{
    uint64_t end = discipline->plan.after.start_ticks + 2 * discipline->refresh_ticks;
    uint64_t followed = end - segment->start_ticks;
    if (ticks > followed)
        ticks = followed;
    return segment_maxerror_ns(segment, ticks);
}

/* How far readers of a segment can have been ahead: by its bound, and not beyond where it ends. The
 * bound of `before` may have a step of UTC in it, if the lines were taken up. */
static uint64_t ahead_ns(const struct discipline *discipline, const struct segment *segment,
                         const struct segment *next, uint64_t ticks)
{
    uint64_t by_bound = grown(discipline, segment, ticks);
    int64_t left_ns = next->value.ns + 1 - discipline->sample.mono_ns;
    uint64_t by_end = left_ns > 0 ? (uint64_t)left_ns : 0;
    return by_bound < by_end ? by_bound : by_end;
}

/*
 * As much as any reading before the disruption can have been ahead of the reference: by the bounds
 * of the old lines, which have grown for as long as the reference has gone on since the sample
 * before.
 */
static struct fixed reference_and_error(const struct discipline *discipline)
{
    const struct plan *plan = &discipline->plan;
    int64_t elapsed_ns = discipline->sample.mono_ns - discipline->previous_ns;
    uint64_t ticks = ticks_of(discipline->estimator.period, elapsed_ns);
    uint64_t before_ns = ahead_ns(discipline, &plan->before, &plan->slew, ticks);
    uint64_t slew_ns = ahead_ns(discipline, &plan->slew, &plan->after, ticks);
    uint64_t after_ns = grown(discipline, &plan->after, ticks);
    uint64_t most_ns = larger(after_ns, larger(slew_ns, before_ns));
    return fixed_from_ns(discipline->sample.mono_ns + (int64_t)most_ns);
}

/*
 * Can anybody have followed the old lines after the counter jumped? Not if the counter jumped over
 * all that was left of them since the sample before.
 */
static bool jumped_over_lines(const struct discipline *discipline, uint64_t followed_ticks)
{
    const struct plan *plan = &discipline->plan;
    uint64_t now = discipline->sample.ticks_before;
    int64_t leap_ns = segment_at(plan_segment(plan, now), now).ns - discipline->sample.mono_ns;
    int64_t left_ns =
        segment_at(plan_segment(plan, followed_ticks), followed_ticks).ns - discipline->previous_ns;
    return leap_ns >= left_ns;
}

/* Then the line has begun also for a reader whose CPU's counter is behind that of the sample. */
static void begin_sooner(struct segment *segment, uint64_t ticks)
{
    segment->start_ticks -= ticks;
    segment->value = fixed_subtract(segment->value, fixed_times(segment->period, ticks));
}

/*
 * The bound of a segment `back` ticks before the newest sample. It is the lesser of two: the
 * published bound, grown since the segment's start; and the bound at the sample, grown over the way
 * back.
 */
static uint64_t bound_before(const struct discipline *discipline, const struct segment *segment,
                             uint64_t back)
{
    const struct estimator *estimator = &discipline->estimator;
    uint64_t sampled = estimator->newest.ticks, led = sampled - back - segment->start_ticks;
    uint64_t drift = larger(segment->drift_rate, bound_drift_rate(discipline));
    uint64_t slew = larger(segment->slew_rate, bound_slew_rate(discipline));
    struct fixed off = fixed_subtract(estimator->value, segment_at(segment, sampled));
    uint64_t published_ns = segment_maxerror_ns(segment, led);
    uint64_t shown_ns = bound_at(discipline, off, sampled) +
        timebase_growth(back, (uint32_t)drift) + timebase_growth(back, (uint32_t)slew);
    return (published_ns < shown_ns ? published_ns : shown_ns) + 3; /* roundings */
}

/*
 * A line that nobody has renewed for longer than the schedule allows begins later. Else it would be
 * as long as the clock was idle, and a counter that goes back would find a line to follow there, as
 * if all were well, until it came to the next one. The line goes on at a whole nanosecond, rounded
 * up: readings do not go back by what is rounded.
 */
static void begin_later(const struct discipline *discipline, const struct schedule *schedule,
                        struct segment *segment)
{
    const struct estimator *estimator = &discipline->estimator;
    uint64_t back =
        fixed_ticks(estimator->period, schedule->before_ns) + discipline->sample.spread_ticks;
    uint64_t start = estimator->newest.ticks - back;
    if (schedule->before_ns == 0 || (int64_t)(start - segment->start_ticks) <= 0)
        return;
    struct fixed value = segment_at(segment, start);
    segment->maxerror_ns = bound_before(discipline, segment, back);
    segment->value = fixed_from_ns(value.ns + (value.frac > 0));
    segment->start_ticks = start;
}

/* A sleep in which the counter went back, and not as far as the sample before: the old lines are
 * behind what has been told. */
static bool fell_behind(const struct discipline *discipline)
{
    uint64_t now = discipline->sample.ticks_before;
    const struct segment *line = plan_segment(&discipline->plan, now);
    return discipline->events & DISCIPLINE_SUSPENDED &&
        segment_at(line, now).ns < discipline->sample.mono_ns;
}

/*
 * The counter and the reference have parted. The new line begins with the sample if all readers
 * have come to the end of the old lines, and else ahead of them like any other; never below
 * what somebody has been told.
 */
static struct plan plan_after_jump(const struct discipline *discipline,
                                   const struct schedule *schedule, uint64_t followed_ticks)
{
    const struct plan *present = &discipline->plan;
    struct fixed floor = segment_at(plan_segment(present, followed_ticks), followed_ticks);
    if (fell_behind(discipline))
        return plan_afresh(discipline, reference_and_error(discipline));
    if ((int64_t)(discipline->sample.ticks_before - followed_ticks) < 0)
        return plan_restart(present, &discipline->estimator, schedule, floor);
    if (jumped_over_lines(discipline, followed_ticks))
        floor = reference_and_error(discipline);
    struct plan plan = plan_afresh(discipline, floor);
    begin_sooner(&plan.slew, discipline->sample.spread_ticks);
    begin_sooner(&plan.after, discipline->sample.spread_ticks);
    plan.before = *plan_segment(present, followed_ticks);
    begin_later(discipline, schedule, &plan.before);
    return plan;
}

struct plan next_plan(const struct discipline *discipline, const struct schedule *schedule,
                      uint64_t followed_ticks)
{
    if (!discipline->has_plan)
        return plan_afresh(discipline, fixed_from_ns(INT64_MIN));
    if (discipline->is_holding)
        return discipline->plan;
    if (discipline->events & DISCIPLINE_BACKWARDS)
        return plan_afresh(discipline, reference_and_error(discipline));
    if (discipline->events & DISCIPLINE_JUMPED)
        return plan_after_jump(discipline, schedule, followed_ticks);
    struct plan present = discipline->plan;
    begin_later(discipline, schedule, &present.after);
    return plan_next(&present, &discipline->estimator, schedule);
}
