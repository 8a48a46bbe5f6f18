/* SPDX-License-Identifier: MIT */
#include "discipline.h"

#include "assumptions.h"
#include "bound.h"
#include "bracket.h"

/* Samples after a disruption during which readers are told UNRELIABLE. */
#define UNRELIABLE_SAMPLES 3
/* The pace that the counter had is trusted to one part in so many: 500 ppm. */
#define DISTRUSTED_PACE_PARTS 2000
/* A slope worse than one part in a million: still initialising, unless it can get no better. */
#define INITIALIZING_PPM 1
/* Lines are followed for no more horizons than these, and a second: see followed_until(). */
#define FOLLOWED_HORIZONS 4
#define FOLLOWED_MARGIN_NS 1000000000
#define NS_PER_SEC 1000000000
/* Less than this between two looks at CLOCK_BOOTTIME is the looking itself. */
#define SUSPEND_MIN_NS 1000000

/*
 * The newest sample as a point. The very first one came before the length of a tick was known: the
 * second one corrects its width.
 */
static struct estimator_point point_of(struct discipline *discipline,
                                       const struct discipline_sample *sample)
{
    struct estimator *estimator = &discipline->estimator;
    if (estimator->ready)
        return bracket_point(sample, estimator->period);
    if (estimator->count == 0)
        return bracket_point(sample, fixed_from_ns(1));
    struct fixed period = bracket_rough_period(&discipline->first, sample);
    struct estimator_point point = bracket_point(sample, period);
    estimator->points[0].width_ns = bracket_point(&discipline->first, period).width_ns;
    return point;
}

unsigned discipline_compare(const struct discipline *discipline,
                            const struct discipline_sample *sample)
{
    unsigned events = 0;
    if (!discipline->has_sample)
        return 0;
    if (sample->utc_offset_ns != discipline->sample.utc_offset_ns)
        events |= DISCIPLINE_UTC_STEPPED;
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
    discipline->estimator.has_slept = events & DISCIPLINE_SUSPENDED;
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

bool discipline_hold(struct discipline *discipline, uint64_t now_ticks)
{
    const struct estimator *estimator = &discipline->estimator;
    enum timebase_status present = discipline->status;
    discipline->events = 0;
    discipline->is_holding = true;
    if (!estimator->ready)
        return false;
    uint64_t age = now_ticks - estimator->newest.ticks;
    if ((int64_t)age < 0)
        return false;
    enum status_event event =
        fixed_times(estimator->period, age).ns < ASSUME_LOST_NS ? STATUS_MISSED : STATUS_LOST;
    if (bound_at(discipline, fixed_from_ns(0), now_ticks) >= ASSUME_USELESS_NS)
        event = STATUS_NOTHING_KNOWN;
    discipline->status = status_next(present, event);
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

/* How far the offset in force on a segment is from the one that the newest sample showed. */
static uint64_t utc_stepped_ns(const struct discipline *discipline, const struct segment *segment)
{
    struct fixed step = fixed_subtract(fixed_from_ns(discipline->sample.utc_offset_ns),
                                       fixed_from_ns(segment->utc_offset_ns));
    return (uint64_t)fixed_abs(step).ns;
}

/* UTC, as a segment counts it, where readers leave it. */
static int64_t utc_until_ns(const struct segment *segment, uint64_t until_ticks)
{
    return segment_at(segment, until_ticks).ns + segment->utc_offset_ns;
}

/* The wider of what was published and what is known now; kept for the next publication. */
static uint64_t widest(uint64_t *published, uint64_t now)
{
    if (now > *published)
        *published = now;
    return *published;
}

static uint32_t rate_of(uint64_t rate)
{
    return rate > UINT32_MAX ? UINT32_MAX : (uint32_t)rate;
}

/*
 * A segment that is off by at most `off`, as a line that is followed up to until_ticks. A segment
 * that was published before keeps the bounds that it had then, if they are wider: they are still
 * true for the older of its ticks, and so is the claim of then. All lines of a publication have the
 * newest claim and one slew_rate; what was more is in the old line's maxerror_ns and drift_rate.
 */
static struct timebase_line line(const struct discipline *discipline, struct segment *segment,
                                 struct fixed off, uint64_t until_ticks)
{
    const struct discipline_sample *sample = &discipline->sample;
    uint64_t bound_ns = bound_at(discipline, off, segment->start_ticks);
    uint64_t claim_ns = (uint64_t)sample->maxerror_ns, slew_rate = bound_slew_rate(discipline);
    uint64_t more_ns = widest(&segment->utc_maxerror_ns, claim_ns) - claim_ns;
    uint64_t more_rate = widest(&segment->slew_rate, slew_rate) - slew_rate;
    struct timebase_line out;
    out.start_ticks = segment->start_ticks;
    out.mono_ns = (uint64_t)segment->value.ns;
    out.utc_ns = out.mono_ns + (uint64_t)segment->utc_offset_ns;
    out.period_frac = segment->period.frac;
    out.period_ns = (uint32_t)segment->period.ns;
    out.flags = sample->flags | (uint32_t)discipline_status(discipline);
    out.maxerror_ns = widest(&segment->maxerror_ns, bound_ns) + more_ns +
        utc_stepped_ns(discipline, segment) +
        leap_error_ns(&discipline->leap, utc_until_ns(segment, until_ticks));
    out.drift_rate =
        rate_of(widest(&segment->drift_rate, bound_drift_rate(discipline)) + more_rate);
    out.slew_rate = (uint32_t)slew_rate;
    out.utc_maxerror_ns = claim_ns;
    return out;
}

/*
 * A line that begins with the newest sample: nobody follows an older line. It takes the reference's
 * reading for the tick before it, and so runs ahead by part of the bracket: readers who got the
 * time from the reference itself a moment earlier are behind it.
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
    return fixed_ticks(period, second) * (whole / second) +
        fixed_ticks(period, whole % second);
}

/* The bound of a line after so many ticks, or where readers left it, if that was sooner. */
static uint64_t grown(const struct discipline *discipline, const struct segment *segment,
                      uint64_t ticks)
{
    uint64_t end = discipline->plan.after.start_ticks + 2 * discipline->refresh_ticks;
    uint64_t followed = end - segment->start_ticks;
    if (ticks > followed)
        ticks = followed;
    return segment->maxerror_ns + timebase_growth(ticks, (uint32_t)segment->drift_rate) +
        timebase_growth(ticks, (uint32_t)segment->slew_rate);
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
    uint64_t ahead_ns = grown(discipline, &plan->before, ticks);
    if (ahead_ns < grown(discipline, &plan->slew, ticks))
        ahead_ns = grown(discipline, &plan->slew, ticks);
    if (ahead_ns < grown(discipline, &plan->after, ticks))
        ahead_ns = grown(discipline, &plan->after, ticks);
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
    if (discipline->is_holding)
        return discipline->plan;
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
        schedule->now_ticks + fixed_ticks(discipline->estimator.period, schedule->horizon_ns);
    int64_t left = (int64_t)(horizon - plan->after.start_ticks);
    return left > 0 ? (uint64_t)left : 0;
}

/*
 * The last tick for which anybody can want these lines, with a margin: readers go on for twice the
 * horizon, and longer if the thread that renews the lines is held up.
 */
static uint64_t followed_until(const struct discipline *discipline, const struct plan *plan,
                               const struct schedule *schedule)
{
    struct fixed period = discipline->estimator.period;
    uint64_t now = schedule->now_ticks, start = plan->after.start_ticks;
    uint64_t from = (int64_t)(now - start) > 0 ? now : start;
    return from + FOLLOWED_HORIZONS * fixed_ticks(period, schedule->horizon_ns) +
        fixed_ticks(period, FOLLOWED_MARGIN_NS);
}

/* Whole seconds: fixed_ticks() takes less than 2^32 ns. */
static uint64_t seconds_ticks(const struct discipline *discipline, int64_t ns)
{
    return (uint64_t)(ns / NS_PER_SEC) * fixed_ticks(discipline->estimator.period, NS_PER_SEC);
}

/* Both expiries count from when the lines want renewal. */
static struct timebase_validity validity(const struct discipline *discipline,
                                         const struct plan *plan, uint64_t refresh_ticks)
{
    struct timebase_validity out = {0};
    out.silent_ticks = refresh_ticks + seconds_ticks(discipline, TIMEBASE_PAGE_SILENT_NS);
    out.void_ticks = refresh_ticks + seconds_ticks(discipline, TIMEBASE_PAGE_EXPIRED_NS);
    out.before_esterror_ns =
        bound_esterror(discipline, plan->before_error, plan->before.start_ticks);
    out.slew_esterror_ns = bound_esterror(discipline, plan->error, plan->slew.start_ticks);
    out.after_esterror_ns = bound_esterror(discipline, plan->left_error, plan->after.start_ticks);
    out.esterror_rate = bound_esterror_rate(discipline);
    return out;
}

struct discipline_output discipline_plan(const struct discipline *discipline,
                                         const struct schedule *schedule, uint64_t followed_ticks)
{
    struct schedule timed = *schedule;
    struct discipline_output out;
    timed.utc_offset_ns = discipline->sample.utc_offset_ns;
    out.plan = first_or_next(discipline, &timed, followed_ticks);
    uint64_t hand_over = out.plan.slew.start_ticks, steady = out.plan.after.start_ticks;
    uint64_t left = followed_until(discipline, &out.plan, &timed);
    out.lines.before = line(discipline, &out.plan.before, out.plan.before_error, hand_over);
    out.lines.slew = line(discipline, &out.plan.slew, out.plan.error, steady);
    out.lines.after = line(discipline, &out.plan.after, out.plan.left_error, left);
    out.refresh_ticks = refresh_ticks(discipline, &out.plan, &timed);
    out.lines.validity = validity(discipline, &out.plan, out.refresh_ticks);
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
    if (!estimator->ready)
        return;
    estimator->count = 0;
    estimator->period_error_frac = fixed_over(estimator->period, DISTRUSTED_PACE_PARTS).frac + 1;
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
    /* The rate was good a moment ago, as good as the lines say; where the reference is, the next
     * sample tells. */
    discipline->estimator.ready = true;
    discipline->estimator.period = discipline->plan.after.period;
    discipline->estimator.period_error_frac = (uint64_t)lines->after.drift_rate << 32;
    discipline->estimator.newest.ticks = lines->before.start_ticks;
    discipline->estimator.value = discipline->plan.before.value;
    discipline->estimator.error_ns = lines->before.maxerror_ns;
}
