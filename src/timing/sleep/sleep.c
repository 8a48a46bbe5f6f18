/* SPDX-License-Identifier: MIT */
#include "sleep.h"

#include <stdbool.h>
#include <stddef.h>

void sleeper_init(struct sleeper *sleeper, const struct sleep_ops *ops, void *context)
{
    sleeper->ops = ops;
    sleeper->context = context;
    margin_init(&sleeper->margin);
}

static int64_t now_ns(const struct sleeper *sleeper)
{
    return sleeper->ops->now_ns(sleeper->context);
}

static int sleep_until(const struct sleeper *sleeper, int64_t until_ns)
{
    return sleeper->ops->sleep_until(sleeper->context, until_ns);
}

/* A part of a long sleep. Never so much of it that what remains is too short to be a sample. */
static enum sleep_outcome sleep_slice(struct sleeper *sleeper, int64_t begin_ns, int64_t nap_ns)
{
    int64_t slice_ns = nap_ns < 2 * SLEEP_SLICE_NS ? nap_ns / 2 : SLEEP_SLICE_NS;
    return sleep_until(sleeper, begin_ns + slice_ns) > 0 ? SLEEP_POLL : SLEEP_AGAIN;
}

/* 0: unknown. To ask takes two system calls: often at first, then now and then. */
static int64_t cpu_ns(const struct sleeper *sleeper)
{
    enum { OFTEN = 8, SELDOM = 16 };
    uint64_t samples = sleeper->margin.samples;
    bool is_due = samples < OFTEN || samples % SELDOM == 0;
    return is_due && sleeper->ops->cpu_ns != NULL ? sleeper->ops->cpu_ns(sleeper->context) : 0;
}

static enum sleep_outcome sleep_to_margin(struct sleep_wait *wait, struct sleeper *sleeper,
                                          int64_t until_ns, int64_t margin_ns)
{
    int64_t before_ns = cpu_ns(sleeper);
    int error = sleep_until(sleeper, until_ns);
    if (error > 0)
        return SLEEP_POLL;
    int64_t latency_ns = now_ns(sleeper) - until_ns, after_ns = cpu_ns(sleeper);
    if (error == SLEEP_HAS_PASSED || latency_ns < -MARGIN_NAP_MIN_NS)
        return SLEEP_AGAIN; /* not woken, or early: no sample */
    wait->margin_ns = margin_ns;
    wait->wake_ns = latency_ns;
    if (before_ns > 0 && after_ns > before_ns)
        margin_charge(&sleeper->margin, after_ns - before_ns);
    margin_observe(&sleeper->margin, latency_ns, margin_ns);
    return SLEEP_AGAIN;
}

/* After its sleep a wait has less left than lead and margin, unless the target has moved. */
static bool is_near(const struct sleep_wait *wait, int64_t left_ns, int64_t lead_ns)
{
    return wait->margin_ns > 0 && left_ns < lead_ns + wait->margin_ns + MARGIN_NAP_MIN_NS;
}

enum sleep_outcome sleep_towards(struct sleep_wait *wait, struct sleeper *sleeper,
                                 int64_t target_ns, int64_t lead_ns)
{
    int64_t begin_ns = now_ns(sleeper), left_ns = target_ns - begin_ns;
    if (wait->calls++ == 0)
        margin_begin(&sleeper->margin, target_ns, left_ns);
    if (is_near(wait, left_ns, lead_ns))
        return SLEEP_POLL;
    int64_t margin_ns = margin_choose(&sleeper->margin, left_ns, lead_ns);
    if (margin_ns < 0)
        return SLEEP_POLL;
    int64_t nap_ns = left_ns - lead_ns - margin_ns;
    if (nap_ns > SLEEP_SLICE_NS)
        return sleep_slice(sleeper, begin_ns, nap_ns);
    return sleep_to_margin(wait, sleeper, begin_ns + nap_ns, margin_ns);
}
