/* SPDX-License-Identifier: MIT */
#include "plan.h"

struct fixed segment_at(const struct segment *segment, uint64_t ticks)
{
    return fixed_add(segment->value, fixed_times(segment->period, ticks - segment->start_ticks));
}

uint64_t segment_maxerror_ns(const struct segment *segment, uint64_t d)
{
    return segment->maxerror_ns + timebase_growth(d, (uint32_t)segment->drift_rate) +
        timebase_growth(d, (uint32_t)segment->slew_rate);
}

static int is_in_force(const struct segment *segment, uint64_t ticks)
{
    return (int64_t)(ticks - segment->start_ticks) >= 0;
}

const struct segment *plan_segment(const struct plan *plan, uint64_t ticks)
{
    if (is_in_force(&plan->after, ticks))
        return &plan->after;
    return is_in_force(&plan->slew, ticks) ? &plan->slew : &plan->before;
}

struct plan plan_begin(const struct estimator *estimator, uint64_t start_ticks, struct fixed value,
                       int64_t utc_offset_ns)
{
    struct segment only = {start_ticks, value, estimator->period, utc_offset_ns, 0, 0, 0, 0};
    struct fixed nothing = {0, 0};
    struct plan plan = {only, only, only, nothing, nothing, nothing};
    return plan;
}

/* How long the slew lasts: long enough for the error at 500 ppm, within the schedule. */
static uint64_t slew_duration_ns(struct fixed error, const struct schedule *schedule)
{
    struct fixed size = fixed_abs(error);
    if (size.ns >= (int64_t)(schedule->slew_max_ns / LINE_SLEW_DIVISOR))
        return schedule->slew_max_ns;
    uint64_t needed_ns = (uint64_t)(size.ns + 1) * LINE_SLEW_DIVISOR;
    return needed_ns > schedule->slew_ns ? needed_ns : schedule->slew_ns;
}

/* What of the error a slew of this length may correct. */
static struct fixed slew_part(struct fixed error, uint64_t duration_ns)
{
    struct fixed most = fixed_from_ns((int64_t)(duration_ns / LINE_SLEW_DIVISOR));
    if (fixed_less(fixed_abs(error), most))
        return error;
    return fixed_is_negative(error) ? fixed_negate(most) : most;
}

/* period + part / ticks, where part may be negative and is smaller than the slew is long. */
static struct fixed slewing_period(struct fixed period, struct fixed part, uint64_t ticks)
{
    struct fixed change = fixed_over(fixed_abs(part), ticks);
    return fixed_is_negative(part) ? fixed_subtract(period, change) : fixed_add(period, change);
}

static struct fixed error_at(const struct segment *segment, const struct estimator *estimator,
                             uint64_t ticks)
{
    return fixed_subtract(estimator_at(estimator, ticks), segment_at(segment, ticks));
}

static struct fixed larger(struct fixed a, struct fixed b)
{
    a = fixed_abs(a);
    b = fixed_abs(b);
    return fixed_less(a, b) ? b : a;
}

struct plan plan_next(const struct plan *plan, const struct estimator *estimator,
                      const struct schedule *schedule)
{
    static const struct plan empty;
    struct plan next = empty;
    uint64_t start = schedule->now_ticks + fixed_ticks(estimator->period, schedule->lead_ns);

    next.before = *plan_segment(plan, schedule->now_ticks);
    next.slew.start_ticks = start;
    next.slew.value = segment_at(&next.before, start);
    next.slew.utc_offset_ns = schedule->utc_offset_ns;
    next.error = fixed_subtract(estimator_at(estimator, start), next.slew.value);
    next.before_error = larger(next.error, error_at(&next.before, estimator, schedule->now_ticks));

    uint64_t duration_ns = slew_duration_ns(next.error, schedule);
    uint64_t duration = fixed_ticks(estimator->period, duration_ns);
    struct fixed part = slew_part(next.error, duration_ns);
    next.slew.period = slewing_period(estimator->period, part, duration);
    next.left_error = fixed_subtract(next.error, part);

    next.after.start_ticks = start + duration;
    next.after.value = segment_at(&next.slew, next.after.start_ticks);
    next.after.period = estimator->period;
    next.after.utc_offset_ns = schedule->utc_offset_ns;
    return next;
}

struct plan plan_restart(const struct plan *plan, const struct estimator *estimator,
                         const struct schedule *schedule, struct fixed floor)
{
    uint64_t start = schedule->now_ticks + fixed_ticks(estimator->period, schedule->lead_ns);
    const struct segment *before = plan_segment(plan, schedule->now_ticks);
    struct fixed reference = estimator_at(estimator, start);
    /* Readers of the new lines go on by the old one up to here, though it was to end sooner. */
    struct fixed left = segment_at(before, start);
    struct fixed told = fixed_less(left, floor) ? floor : left;
    struct fixed value = fixed_less(reference, told) ? told : reference;
    struct plan next = plan_begin(estimator, start, value, schedule->utc_offset_ns);
    next.before = *before;
    next.error = fixed_subtract(reference, value);
    next.before_error = larger(error_at(&next.before, estimator, schedule->now_ticks),
                               error_at(&next.before, estimator, start));
    next.left_error = next.error;
    return next;
}

uint64_t plan_deadline(const struct plan *plan, const struct plan *next, uint64_t now_ticks)
{
    uint64_t start = next->slew.start_ticks;
    uint64_t hand_over = plan->after.start_ticks;
    bool is_between = (int64_t)(hand_over - now_ticks) > 0 && (int64_t)(start - hand_over) > 0;
    return is_between ? hand_over : start;
}
