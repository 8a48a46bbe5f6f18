/* SPDX-License-Identifier: MIT */
/*
 * device_rate: measures a device against the counter. The counter and the time in between come from
 * outside, so that the same code runs over a simulated device.
 */
#ifndef TIMEBASE_BENCH_DEVICE_RATE_H
#define TIMEBASE_BENCH_DEVICE_RATE_H

#include "device.h"
#include "timers.h"

struct device_outside {
    uint64_t (*ticks)(void *context); /* ordered */
    void (*rest)(void *context, uint64_t ticks);
    void *context;
    double hz; /* of the counter; to some percent */
};

/*
 * For so long, in ticks. Returns 0; or an error of the device's, and its reason. A device that
 * stands still is TIMEBASE_E_REFERENCE.
 */
int device_rate(struct device *device, const struct device_outside *outside, uint64_t ticks,
                struct timebase_bench_timer *out);

#endif
