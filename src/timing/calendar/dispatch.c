/* SPDX-License-Identifier: MIT */
#include "dispatch.h"

#include "account.h"
#include "queue.h"

static bool is_stopped(const struct dispatch *dispatch)
{
    const int *stop = dispatch->calendar->stop;
    return stop != NULL && __atomic_load_n(stop, __ATOMIC_ACQUIRE) != 0;
}

/* Waits until the release is near; false if the run was stopped. *now_ns is the time at the end. */
static bool come_near(const struct dispatch *dispatch, int64_t target_ns, uint32_t flags,
                      int64_t *now_ns)
{
    for (;;) {
        if (is_stopped(dispatch))
            return false;
        *now_ns = dispatch->machine->now(dispatch->context);
        int64_t left_ns = target_ns - DISPATCH_HANDOVER_NS - *now_ns;
        if (left_ns <= 0)
            return true;
        if (left_ns > DISPATCH_SLICE_NS)
            left_ns = DISPATCH_SLICE_NS;
        dispatch->machine->rest(dispatch->context, *now_ns + left_ns, flags);
    }
}

/* Releases whose deadline has passed, beginning with the next one. */
static uint64_t count_hopeless(const struct pattern *pattern, uint64_t number, int64_t target_ns,
                               int64_t now_ns)
{
    int64_t past_ns = now_ns - target_ns;
    if (pattern->deadline_ns == PATTERN_NO_DEADLINE || past_ns < pattern->deadline_ns)
        return 0;
    uint64_t count = (uint64_t)((past_ns - pattern->deadline_ns) / pattern->period_ns) + 1;
    uint64_t left = pattern->count - number;
    return count < left ? count : left;
}

static void skip(const struct dispatch *dispatch, struct timebase_release *release, uint64_t count)
{
    release->outcome = TIMEBASE_RELEASE_SKIPPED;
    release->count = count;
    account_skipped(&dispatch->results[release->unit], count);
    account_log(dispatch->calendar->log, release);
}

static uint32_t judge(const struct pattern *pattern, const struct dispatch_outcome *outcome,
                      int64_t end_after_ns)
{
    uint32_t bits = 0;
    if (outcome->is_late)
        bits |= TIMEBASE_RELEASE_LATE;
    if (outcome->ran_ns > pattern->wcet_ns)
        bits |= TIMEBASE_RELEASE_OVERRUN;
    if (end_after_ns > pattern->deadline_ns)
        bits |= TIMEBASE_RELEASE_MISSED;
    if (outcome->is_timed_out)
        bits |= TIMEBASE_RELEASE_TIMED_OUT;
    if (outcome->disturbance != 0)
        bits |= TIMEBASE_RELEASE_DISTURBED;
    return bits;
}

static int run_one(const struct dispatch *dispatch, struct timebase_release *release)
{
    const struct timebase_unit *unit = &dispatch->calendar->units[release->unit];
    struct dispatch_outcome outcome = {0};
    int error = dispatch->machine->call(dispatch->context, unit, release->target_ns, &outcome);
    if (error < 0)
        return error;
    /* Rounded to the nearest ns. An int64_t holds errors of hours, too. */
    double half = outcome.error_ns < 0 ? -0.5 : 0.5;
    int64_t end_after_ns = (int64_t)(outcome.error_ns + half) + outcome.ran_ns;
    release->outcome = judge(&dispatch->patterns[release->unit], &outcome, end_after_ns);
    release->count = 1;
    release->end_ns = release->target_ns + end_after_ns;
    release->error_ns = (float)outcome.error_ns;
    release->disturbance = outcome.disturbance;
    account_run(&dispatch->results[release->unit], release, outcome.error_ns, outcome.ran_ns);
    account_log(dispatch->calendar->log, release);
    return TIMEBASE_OK;
}

int dispatch_run(const struct dispatch *dispatch)
{
    struct queue queue;
    queue_begin(&queue, dispatch->patterns, dispatch->calendar->unit_count);
    while (queue.size > 0) {
        uint32_t unit = queue_first(&queue);
        struct timebase_release release = {.unit = unit,
                                           .number = queue.number[unit],
                                           .target_ns = dispatch->start_ns + queue.ready_ns[unit]};
        int64_t now_ns;
        if (!come_near(dispatch, release.target_ns, dispatch->calendar->units[unit].flags, &now_ns))
            return TIMEBASE_OK;
        uint64_t hopeless =
            count_hopeless(&dispatch->patterns[unit], release.number, release.target_ns, now_ns);
        int error = TIMEBASE_OK;
        if (hopeless > 0)
            skip(dispatch, &release, hopeless);
        else
            error = run_one(dispatch, &release);
        if (error < 0)
            return error;
        queue_advance(&queue, hopeless > 0 ? hopeless : 1);
    }
    return TIMEBASE_OK;
}
