/* SPDX-License-Identifier: MIT */
/* reference_device: one of the board's clocks, as the reference of the library's servo. */
#ifndef LIBRARY_REFERENCE_DEVICE_H
#define LIBRARY_REFERENCE_DEVICE_H

#include "clock/reference/reference.h"
#include "device.h"

struct reference_device {
    struct device device;
    double steps_per_tick; /* of the counter: says how often the device has wrapped */
    uint64_t seen_ticks;   /* counter at the newest reading */
    uint64_t seen_steps;   /* since the beginning */
    uint64_t seen_raw;
    uint64_t step_ticks; /* of the counter */
};

extern const struct reference reference_device;

void reference_device_begin(struct reference_device *reference, const struct device *device,
                            double tsc_hz);

#endif
