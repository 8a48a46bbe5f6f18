/* SPDX-License-Identifier: MIT */
#include "drawn_lines.h"

#include "bound.h"

/* Lines are followed for no more horizons than these, and a second: see followed_until(). */
#define FOLLOWED_HORIZONS 4
#define FOLLOWED_MARGIN_NS 1000000000
#define NS_PER_SEC 1000000000

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
 * that was published before keeps the bounds and the claim that it had then, if they are wider: for
 * the older of its ticks they are still the true ones. All lines of a publication have the newest
 * claim and the same slew_rate. What an old line had beyond these goes into its maxerror_ns and
 * drift_rate.
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
    out.flags = sample->flags | (uint32_t)discipline->status;
    out.maxerror_ns = widest(&segment->maxerror_ns, bound_ns) + more_ns +
        utc_stepped_ns(discipline, segment) +
        leap_error_ns(&discipline->leap, utc_until_ns(segment, until_ticks));
    out.drift_rate =
        rate_of(widest(&segment->drift_rate, bound_drift_rate(discipline)) + more_rate);
    out.slew_rate = (uint32_t)slew_rate;
    out.utc_maxerror_ns = claim_ns;
    return out;
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

void drawn_lines(const struct discipline *discipline, const struct schedule *schedule,
                 struct discipline_output *output)
{
    struct plan *plan = &output->plan;
    uint64_t hand_over = plan->slew.start_ticks, steady = plan->after.start_ticks;
    uint64_t left = followed_until(discipline, plan, schedule);
    output->lines.before = line(discipline, &plan->before, plan->before_error, hand_over);
    output->lines.slew = line(discipline, &plan->slew, plan->error, steady);
    output->lines.after = line(discipline, &plan->after, plan->left_error, left);
    output->refresh_ticks = refresh_ticks(discipline, plan, schedule);
    output->lines.validity = validity(discipline, plan, output->refresh_ticks);
}
