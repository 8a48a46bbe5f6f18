/* SPDX-License-Identifier: MIT */
/* A waiter is made, calibrated again, and told how to choose its margin. */
#include <stddef.h>
#include <string.h>

#include "timing/calibration/calibration.h"
#include "timing/sleep/relax.h"

TIMEBASE_API int timebase_waiter_init(struct timebase_waiter *public, const timebase_clock *clock)
{
    if (public == NULL || clock == NULL)
        return TIMEBASE_E_INVALID;
    struct waiter *waiter = waiter_within(public);
    memset(public, 0, sizeof(*public));
    waiter->magic = WAITER_MAGIC;
    waiter->clock = clock;
    waiter->delay = timebase_delay_ns_from;
    relax_means(); /* asks the processor once, while there is no hurry */
    evidence_init(&waiter->evidence, &waiter->approach);
    sleeper_init(&waiter->sleeper, &sleep_in_kernel, (void *)(uintptr_t)clock);
    calibrate(waiter, CALIBRATION_PATIENCE_NS);
    return TIMEBASE_OK;
}

TIMEBASE_API int timebase_waiter_calibrate(struct timebase_waiter *public)
{
    struct waiter *waiter = waiter_checked(public);
    if (waiter == NULL)
        return TIMEBASE_E_INVALID;
    calibrate(waiter, CALIBRATION_PATIENCE_NS);
    return TIMEBASE_OK;
}

TIMEBASE_API int timebase_waiter_set_margin(struct timebase_waiter *public, double quantile,
                                            double cpu_share)
{
    struct waiter *waiter = waiter_checked(public);
    if (waiter == NULL || !margin_set(&waiter->sleeper.margin, quantile, cpu_share))
        return TIMEBASE_E_INVALID;
    return TIMEBASE_OK;
}
