/* SPDX-License-Identifier: MIT */
#include "discipline.h"

#include "assumptions.h"
#include "bound.h"
#include "bracket.h"
#include "drawn_lines.h"
#include "next_plan.h"

/* Samples after a disruption during which readers are told UNRELIABLE. */
#define UNRELIABLE_SAMPLES 3
/* The pace that the counter had is trusted by one part in so many less: 500 ppm. */
#define DISTRUSTED_PACE_PARTS 2000
/* A slope worse than one part in a million: still initialising, unless it can get no better. */
#define INITIALIZING_PPM 1
/* Less than this between two looks at CLOCK_BOOTTIME is the looking itself. */
#define SUSPEND_MIN_NS 1000000
/* Beyond the bound of lines that are taken up; as much as is no jump from sample to sample. */
#define ADOPTED_TOLERANCE_NS 1000000
/* A pace that may be wrong by more than one part in so many would excuse a sleep or a jump at the
 * next sample. No kernel is slewed as fast: 10 % and 500 ppm. */
#define ADOPTED_PACE_PARTS 8

/* The width is that for the longest tick that the slope's error allows, which may be percents
 * longer after a disruption. */
static struct estimator_point point_by(const struct estimator *estimator,
                                       const struct discipline_sample *sample)
{
    struct estimator_point point = bracket_point(sample, estimator->period);
    uint64_t ticks = bracket_ticks(sample) + sample->step_ticks + sample->spread_ticks;
    point.width_ns += timebase_multiply_high(ticks, estimator->period_error_frac);
    return point;
}

/*
 * The newest sample as a point. The very first one came before the length of a tick was known: the
 * second one corrects its width.
 */
static struct estimator_point point_of(struct discipline *discipline,
                                       const struct discipline_sample *sample)
{
    struct estimator *estimator = &discipline->estimator;
    if (estimator->ready)
        return point_by(estimator, sample);
    if (estimator->count == 0)
        return bracket_point(sample, fixed_from_ns(1));
    struct fixed period = bracket_rough_period(&discipline->first, sample);
    struct estimator_point point = bracket_point(sample, period);
    estimator->points[0].width_ns = bracket_point(&discipline->first, period).width_ns;
    return point;
}

bool discipline_was_asleep(int64_t then_suspended_ns, int64_t suspended_ns)
{
    return suspended_ns - then_suspended_ns > SUSPEND_MIN_NS;
}

unsigned discipline_compare(const struct discipline *discipline,
                            const struct discipline_sample *sample)
{
    unsigned events = 0;
    if (!discipline->has_sample)
        return 0;
    if (sample->utc_offset_ns != discipline->sample.utc_offset_ns)
        events |= DISCIPLINE_UTC_STEPPED;
    if (discipline_was_asleep(discipline->sample.suspended_ns, sample->suspended_ns))
        events |= DISCIPLINE_SUSPENDED;
    return events;
}

/* By how much a is later than b; 0 if it is not. */
static uint64_t later_ns(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : 0;
}

/*
 * How far from the reference lines may be that fit. `before` has in its bound what its UTC is wrong
 * by: the step that it missed, and what its claim was wider by, hours perhaps. The slew has none of
 * that, and begins where `before` ends.
 */
static uint64_t fitting_ns(const struct plan *plan, const struct discipline_sample *sample)
{
    const struct segment *line = plan_segment(plan, sample->ticks_before);
    const struct segment *known = line == &plan->before ? &plan->slew : line;
    uint64_t left = known->start_ticks - sample->ticks_before;
    uint64_t d = line == known ? sample->ticks_after - known->start_ticks : left;
    return segment_maxerror_ns(known, d) + ADOPTED_TOLERANCE_NS;
}

bool discipline_fits(const struct discipline *discipline, const struct discipline_sample *sample)
{
    const struct segment *line = plan_segment(&discipline->plan, sample->ticks_before);
    struct fixed pace_error = {0, discipline->estimator.period_error_frac};
    bool is_vague =
        fixed_less(fixed_over(discipline->estimator.period, ADOPTED_PACE_PARTS), pace_error);
    if (is_vague || (int64_t)(sample->ticks_before - line->start_ticks) < 0)
        return false;
    uint64_t bound_ns = fitting_ns(&discipline->plan, sample);
    return later_ns(segment_at(line, sample->ticks_before).ns, sample->mono_ns) <= bound_ns &&
        later_ns(sample->mono_ns, segment_at(line, sample->ticks_after).ns) <= bound_ns;
}

/* Lines that were taken up go on, however far they are off within their bound: after a disruption
 * that is on purpose. Beyond it there was a sleep or a jump, of which no sample tells. */
static void compare_with_lines(struct discipline *discipline,
                               const struct discipline_sample *sample, bool is_asleep)
{
    bool is_first = discipline->has_plan && !discipline->has_sample;
    discipline->estimator.has_fitted = is_first && discipline_fits(discipline, sample);
    discipline->estimator.has_slept = is_asleep || is_first != discipline->estimator.has_fitted;
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

static bool is_rough(const struct estimator *estimator)
{
    uint64_t error = estimator->period_error_frac >> 32;
    return error > bound_rate(estimator->period, INITIALIZING_PPM) &&
        estimator->count < ESTIMATOR_POINTS;
}

static enum status_event status_event(const struct discipline *discipline)
{
    const struct estimator *estimator = &discipline->estimator;
    bool is_synchronized = discipline->sample.is_synchronized;
    if (!estimator->ready || !bound_is_told(discipline))
        return STATUS_NOTHING_KNOWN;
    if (discipline->unreliable > 0)
        return STATUS_DISRUPTED;
    if (is_rough(estimator))
        return is_synchronized ? STATUS_ROUGH : STATUS_ROUGH_UNSYNCHRONIZED;
    if (!is_synchronized)
        return STATUS_UNSYNCHRONIZED;
    return discipline->was_synchronized ? STATUS_SYNCHRONIZED_AGAIN : STATUS_SYNCHRONIZED_ONCE;
}

static void note_leap(struct discipline *discipline, const struct discipline_sample *sample,
                      unsigned events)
{
    struct leap_sample seen;
    seen.utc_ns = sample->mono_ns + sample->utc_offset_ns;
    seen.maxerror_ns = sample->maxerror_ns;
    seen.stepped_ns = events & DISCIPLINE_UTC_STEPPED ? discipline->utc_step_ns : 0;
    seen.flags = sample->flags;
    leap_observe(&discipline->leap, &seen);
}

unsigned discipline_observe(struct discipline *discipline, const struct discipline_sample *sample)
{
    struct estimator_point point = point_of(discipline, sample);
    unsigned events = discipline_compare(discipline, sample);
    if (events & DISCIPLINE_UTC_STEPPED)
        discipline->utc_step_ns = sample->utc_offset_ns - discipline->sample.utc_offset_ns;
    compare_with_lines(discipline, sample, events & DISCIPLINE_SUSPENDED);
    events |= translate(estimator_observe(&discipline->estimator, &point));
    if (discipline->estimator.points[0].ticks == point.ticks)
        discipline->first = *sample; /* the run of points begins here */
    if (events & DISCIPLINE_DISRUPTED || sample->flags & TIMEBASE_LINE_COUNTER_DISTRUSTED)
        discipline->unreliable = UNRELIABLE_SAMPLES;
    else if (discipline->unreliable > 0)
        discipline->unreliable--;
    note_leap(discipline, sample, events);
    discipline->was_synchronized = discipline->sample.is_synchronized;
    discipline->previous_ns = discipline->sample.mono_ns;
    discipline->sample = *sample;
    discipline->has_sample = true;
    discipline->events = events;
    discipline->is_holding = false;
    discipline->status = status_next(discipline->status, status_event(discipline));
    return events;
}

/* No sample, and perhaps a disruption that somebody has told since the last one. */
static enum status_event hold_event(const struct discipline *discipline, uint64_t now_ticks)
{
    const struct estimator *estimator = &discipline->estimator;
    uint64_t age = now_ticks - estimator->newest.ticks;
    bool is_behind = (int64_t)age < 0; /* nothing of the lines tells how long it has been */
    if (!bound_is_told(discipline) ||
        (!is_behind && bound_at(discipline, fixed_from_ns(0), now_ticks) >= ASSUME_USELESS_NS))
        return STATUS_NOTHING_KNOWN;
    if (discipline->unreliable > 0)
        return STATUS_DISRUPTED;
    if (is_behind || fixed_times(estimator->period, age).ns < ASSUME_LOST_NS)
        return STATUS_MISSED;
    return STATUS_LOST;
}

void discipline_hear_distrust(struct discipline *discipline, uint32_t flags)
{
    if (!(flags & TIMEBASE_LINE_COUNTER_DISTRUSTED))
        return;
    discipline->sample.flags |= TIMEBASE_LINE_COUNTER_DISTRUSTED;
    if (discipline->unreliable < UNRELIABLE_SAMPLES) /* a told disruption takes one more */
        discipline->unreliable = UNRELIABLE_SAMPLES;
}

bool discipline_hold(struct discipline *discipline, uint64_t now_ticks)
{
    enum timebase_status present = discipline->status;
    discipline->events = 0;
    discipline->is_holding = true;
    if (!discipline->estimator.ready)
        return false;
    discipline->status = status_next(present, hold_event(discipline, now_ticks));
    return discipline->status != present;
}

bool discipline_is_ready(const struct discipline *discipline)
{
    return discipline->estimator.ready;
}

enum timebase_status discipline_status(const struct discipline *discipline)
{
    return discipline->status;
}

struct discipline_output discipline_plan(const struct discipline *discipline,
                                         const struct schedule *schedule, uint64_t followed_ticks)
{
    struct schedule timed = *schedule;
    struct discipline_output out;
    timed.utc_offset_ns = discipline->sample.utc_offset_ns;
    out.plan = next_plan(discipline, &timed, followed_ticks);
    drawn_lines(discipline, &timed, &out);
    return out;
}

void discipline_reset(struct discipline *discipline)
{
    struct discipline fresh = {0};
    fresh.estimator.drift_ppm = discipline->estimator.drift_ppm;
    *discipline = fresh;
}

void discipline_distrust(struct discipline *discipline)
{
    struct estimator *estimator = &discipline->estimator;
    /* Also before there is a pace: the first one is of samples since. */
    estimator->count = 0;
    if (estimator->ready)
        estimator->period_error_frac =
            pace_add(estimator->period_error_frac,
                     fixed_over(estimator->period, DISTRUSTED_PACE_PARTS).frac + 1);
    /* The next observation takes one off. */
    discipline->unreliable = UNRELIABLE_SAMPLES + 1;
}

void discipline_allow_drift(struct discipline *discipline, uint32_t drift_ppm)
{
    discipline->estimator.drift_ppm = drift_ppm;
}

void discipline_commit(struct discipline *discipline, const struct discipline_output *output)
{
    discipline->plan = output->plan;
    discipline->refresh_ticks = output->refresh_ticks;
    discipline->has_plan = true;
}

static struct segment adopted(const struct timebase_line *line)
{
    struct segment segment;
    segment.start_ticks = line->start_ticks;
    segment.value = fixed_from_ns((int64_t)line->mono_ns);
    segment.period.ns = line->period_ns;
    segment.period.frac = line->period_frac;
    segment.utc_offset_ns = timebase_line_utc_offset_ns(line);
    segment.maxerror_ns = line->maxerror_ns;
    segment.utc_maxerror_ns = line->utc_maxerror_ns;
    segment.drift_rate = line->drift_rate;
    segment.slew_rate = line->slew_rate;
    return segment;
}

void discipline_adopt(struct discipline *discipline, const struct timebase_lines *lines)
{
    discipline_reset(discipline);
    discipline->plan.before = adopted(&lines->before);
    discipline->plan.slew = adopted(&lines->slew);
    discipline->plan.after = adopted(&lines->after);
    discipline->has_plan = true;
    discipline->status = (enum timebase_status)(lines->after.flags & TIMEBASE_LINE_STATUS_MASK);
    /* The rate was good a moment ago, as good as the lines say. The next sample tells where the
     * reference is. */
    discipline->estimator.ready = true;
    discipline->estimator.period = discipline->plan.after.period;
    discipline->estimator.period_error_frac = (uint64_t)lines->after.drift_rate << 32;
    discipline->estimator.newest.ticks = lines->before.start_ticks;
    discipline->estimator.value = discipline->plan.before.value;
    discipline->estimator.error_ns = lines->before.maxerror_ns;
}
