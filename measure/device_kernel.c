/* SPDX-License-Identifier: MIT */
/*
 * device_kernel: CLOCK_MONOTONIC_RAW beside the devices. Where the kernel keeps time by the counter,
 * its rate against the counter is what the kernel took the counter's frequency for.
 */
#include <time.h>

#include "device.h"

#define SEC_NS 1000000000

static int read_kernel(struct device *device, uint64_t *raw)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC_RAW, &now) != 0)
        return device_fail(device, TIMEBASE_E_REFERENCE, "CLOCK_MONOTONIC_RAW cannot be read");
    *raw = (uint64_t)now.tv_sec * SEC_NS + (uint64_t)now.tv_nsec;
    return TIMEBASE_OK;
}

int device_open_kernel(struct device *device)
{
    *device = (struct device){.read = read_kernel, .hz = SEC_NS, .width = 64, .fd = -1};
    return TIMEBASE_OK;
}
