/* SPDX-License-Identifier: MIT */
#include "discipline.h"

#include "assumptions.h"
#include "bound.h"

/* Samples after a disruption during which readers are told UNRELIABLE. */
#define UNRELIABLE_SAMPLES 3
/* A slope worse than one part in a million: still initialising, unless it can get no better. */
#define INITIALIZING_PPM 1
/* Less than this between two looks at CLOCK_BOOTTIME is the looking itself. */
#define SUSPEND_MIN_NS 1000000

/*
 * Half the bracket, and the counter's step: what is shown may be a step old, at the sample and
 * again at the reading. The first period is good to a part in 500 (estimator.c), so that much
 * is added.
 */
static uint64_t width_ns(const struct discipline_sample *sample, struct fixed period)
{
    uint64_t bracket = sample->ticks_after - sample->ticks_before;
    uint64_t step = sample->step_ticks > 1 ? sample->step_ticks : 1;
    uint64_t half_ns = (uint64_t)fixed_times(period, (bracket + 1) / 2 + step).ns;
    return half_ns + half_ns / 256 + 1;
}

static struct estimator_point middle(const struct discipline_sample *sample, struct fixed period)
{
    uint64_t bracket = sample->ticks_after - sample->ticks_before;
    struct estimator_point point;
    point.ticks = sample->ticks_before + bracket / 2;
    point.ns = sample->mono_ns;
    point.width_ns = width_ns(sample, period);
    return point;
}

/* The length of a tick between two samples, good enough to know how wide their brackets are. */
static struct fixed rough_period(const struct discipline_sample *a,
                                 const struct discipline_sample *b)
{
    uint64_t ticks = b->ticks_before - a->ticks_before;
    int64_t ns = b->mono_ns - a->mono_ns;
    return ticks == 0 || ns <= 0 ? fixed_from_ns(1) : fixed_over(fixed_from_ns(ns), ticks);
}

/*
 * The newest sample as a point. The first one of all came before any tick had a length: its width
 * is put right as soon as there is a second.
 */
static struct estimator_point point_of(struct discipline *discipline,
                                       const struct discipline_sample *sample)
{
    struct estimator *estimator = &discipline->estimator;
    if (estimator->ready)
        return middle(sample, estimator->period);
    if (estimator->count == 0)
        return middle(sample, fixed_from_ns(1));
    struct fixed period = rough_period(&discipline->first, sample);
    struct estimator_point point = middle(sample, period);
    estimator->points[0].width_ns = width_ns(&discipline->first, period);
    return point;
}

static unsigned compare(struct discipline *discipline, const struct discipline_sample *sample)
{
    unsigned events = 0;
    if (!discipline->has_sample)
        return 0;
    int64_t step_ns = sample->utc_offset_ns - discipline->sample.utc_offset_ns;
    if (step_ns != 0) {
        events |= DISCIPLINE_UTC_STEPPED;
        discipline->utc_step_ns = step_ns;
    }
    if (sample->suspended_ns - discipline->sample.suspended_ns > SUSPEND_MIN_NS)
        events |= DISCIPLINE_SUSPENDED;
    return events;
}

static unsigned translate(enum estimator_event event)
{
    switch (event) {
    case ESTIMATOR_RATE_CHANGED:
        return DISCIPLINE_RATE_CHANGED;
    case ESTIMATOR_JUMPED:
        return DISCIPLINE_JUMPED;
    case ESTIMATOR_BACKWARDS:
        return DISCIPLINE_BACKWARDS;
    default:
        return 0;
    }
}

unsigned discipline_observe(struct discipline *discipline, const struct discipline_sample *sample)
{
    struct estimator_point point = point_of(discipline, sample);
    unsigned events = compare(discipline, sample);
    events |= translate(estimator_observe(&discipline->estimator, &point));
    if (discipline->estimator.points[0].ticks == point.ticks)
        discipline->first = *sample; /* the run of points begins here */
    if (events & DISCIPLINE_DISRUPTED)
        discipline->unreliable = UNRELIABLE_SAMPLES;
    else if (discipline->unreliable > 0)
        discipline->unreliable--;
    discipline->previous_ns = discipline->sample.mono_ns;
    discipline->sample = *sample;
    discipline->has_sample = true;
    discipline->events = events;
    return events;
}

bool discipline_is_ready(const struct discipline *discipline)
{
    return discipline->estimator.ready;
}

enum timebase_status discipline_status(const struct discipline *discipline)
{
    const struct estimator *estimator = &discipline->estimator;
    if (!estimator->ready)
        return TIMEBASE_STATUS_UNKNOWN;
    if (discipline->unreliable > 0)
        return TIMEBASE_STATUS_UNRELIABLE;
    bool is_rough =
        (estimator->period_error_frac >> 32) > bound_rate(estimator->period, INITIALIZING_PPM);
    if (is_rough && estimator->count < ESTIMATOR_POINTS)
        return TIMEBASE_STATUS_INITIALIZING;
    return discipline->sample.is_synchronized ? TIMEBASE_STATUS_SYNCHRONIZED
                                              : TIMEBASE_STATUS_FREERUNNING;
}

/* How far the offset in force on a segment is from the one that the newest sample showed. */
static uint64_t utc_stepped_ns(const struct discipline *discipline, const struct segment *segment)
{
    struct fixed step = fixed_subtract(fixed_from_ns(discipline->sample.utc_offset_ns),
                                       fixed_from_ns(segment->utc_offset_ns));
    return (uint64_t)fixed_abs(step).ns;
}

/*
 * A segment that is off by at most `off` as line. One published before keeps the bound that it was
 * published with, if that is wider: it is still true for the older of its ticks.
 */
static struct timebase_line line(const struct discipline *discipline, struct segment *segment,
                                 struct fixed off)
{
    const struct discipline_sample *sample = &discipline->sample;
    uint64_t maxerror_ns = bound_at(discipline, off, segment->start_ticks);
    uint32_t drift_rate = bound_drift_rate(discipline);
    struct timebase_line out;
    if (maxerror_ns > segment->maxerror_ns)
        segment->maxerror_ns = maxerror_ns;
    if (drift_rate > segment->drift_rate)
        segment->drift_rate = drift_rate;
    out.start_ticks = segment->start_ticks;
    out.mono_ns = (uint64_t)segment->value.ns;
    out.utc_offset_ns = (uint64_t)segment->utc_offset_ns;
    out.period_frac = segment->period.frac;
    out.period_ns = (uint32_t)segment->period.ns;
    out.flags = sample->flags | (uint32_t)discipline_status(discipline);
    out.maxerror_ns = segment->maxerror_ns + utc_stepped_ns(discipline, segment);
    out.drift_rate = (uint32_t)segment->drift_rate;
    out.slew_rate = bound_rate(discipline->estimator.period, ASSUME_SLEW_PPM);
    out.utc_maxerror_ns = (uint64_t)sample->maxerror_ns;
    return out;
}

/*
 * A line that begins with the newest sample, in no reader's way: nobody follows an older one. It
 * takes the reference's reading for the tick before it, and so runs ahead by part of the
 * bracket: readers who got the time from the reference itself a moment earlier are behind it.
 */
static struct plan plan_afresh(const struct discipline *discipline, struct fixed floor)
{
    const struct discipline_sample *sample = &discipline->sample;
    struct fixed reference = fixed_from_ns(sample->mono_ns);
    struct fixed value = fixed_less(reference, floor) ? floor : reference;
    struct plan plan =
        plan_begin(&discipline->estimator, sample->ticks_before, value, sample->utc_offset_ns);
    uint64_t ahead = sample->ticks_after - sample->ticks_before;
    plan.error = fixed_subtract(fixed_subtract(reference, value),
                                fixed_times(discipline->estimator.period, ahead));
    plan.before_error = plan.error;
    plan.left_error = plan.error;
    return plan;
}

/* As much as any reading before the disruption can have been ahead of the reference. */
static struct fixed reference_and_error(const struct discipline *discipline)
{
    uint64_t ahead_ns = (uint64_t)fixed_abs(discipline->plan.error).ns +
        discipline->estimator.error_ns + ASSUME_ROUNDING_NS;
    return fixed_from_ns(discipline->sample.mono_ns + (int64_t)ahead_ns);
}

/*
 * Can anybody have followed the old lines after the counter ran away? Not if it jumped, in one
 * leap, over all that was left of them since the sample before.
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
    if ((int64_t)(discipline->sample.ticks_before - followed_ticks) < 0)
        return plan_restart(present, &discipline->estimator, schedule, floor);
    if (jumped_over_lines(discipline, followed_ticks))
        floor = reference_and_error(discipline);
    struct plan plan = plan_afresh(discipline, floor);
    plan.before = *plan_segment(present, followed_ticks);
    return plan;
}

static struct plan first_or_next(const struct discipline *discipline,
                                 const struct schedule *schedule, uint64_t followed_ticks)
{
    if (!discipline->has_plan)
        return plan_afresh(discipline, fixed_from_ns(INT64_MIN));
    if (discipline->events & DISCIPLINE_BACKWARDS)
        return plan_afresh(discipline, reference_and_error(discipline));
    if (discipline->events & DISCIPLINE_JUMPED)
        return plan_after_jump(discipline, schedule, followed_ticks);
    return plan_next(&discipline->plan, &discipline->estimator, schedule);
}

static uint64_t refresh_ticks(const struct discipline *discipline, const struct plan *plan,
                              const struct schedule *schedule)
{
    uint64_t horizon =
        schedule->now_ticks + estimator_ticks(discipline->estimator.period, schedule->horizon_ns);
    int64_t left = (int64_t)(horizon - plan->after.start_ticks);
    return left > 0 ? (uint64_t)left : 0;
}

struct discipline_output discipline_plan(const struct discipline *discipline,
                                         const struct schedule *schedule, uint64_t followed_ticks)
{
    struct schedule timed = *schedule;
    struct discipline_output out;
    timed.utc_offset_ns = discipline->sample.utc_offset_ns;
    out.plan = first_or_next(discipline, &timed, followed_ticks);
    out.lines.before = line(discipline, &out.plan.before, out.plan.before_error);
    out.lines.slew = line(discipline, &out.plan.slew, out.plan.error);
    out.lines.after = line(discipline, &out.plan.after, out.plan.left_error);
    out.refresh_ticks = refresh_ticks(discipline, &out.plan, &timed);
    return out;
}

void discipline_commit(struct discipline *discipline, const struct discipline_output *output)
{
    discipline->plan = output->plan;
    discipline->has_plan = true;
}

static struct segment adopted(const struct timebase_line *line)
{
    struct segment segment;
    segment.start_ticks = line->start_ticks;
    segment.value = fixed_from_ns((int64_t)line->mono_ns);
    segment.period.ns = line->period_ns;
    segment.period.frac = line->period_frac;
    segment.utc_offset_ns = (int64_t)line->utc_offset_ns;
    segment.maxerror_ns = line->maxerror_ns;
    segment.drift_rate = line->drift_rate;
    return segment;
}

void discipline_adopt(struct discipline *discipline, const struct timebase_lines *lines)
{
    struct discipline fresh = {0};
    *discipline = fresh;
    discipline->plan.before = adopted(&lines->before);
    discipline->plan.slew = adopted(&lines->slew);
    discipline->plan.after = adopted(&lines->after);
    discipline->has_plan = true;
    /* The rate was good a moment ago, as good as the lines say; where the reference is, the next
     * sample tells. */
    discipline->estimator.ready = true;
    discipline->estimator.period = discipline->plan.after.period;
    discipline->estimator.period_error_frac = (uint64_t)lines->after.drift_rate << 32;
    discipline->estimator.newest.ticks = lines->before.start_ticks;
    discipline->estimator.value = discipline->plan.before.value;
    discipline->estimator.error_ns = lines->before.maxerror_ns;
}
