/* SPDX-License-Identifier: MIT */
/*
 * clock: timebase_clock_default() of the bare machine. The library's own servo keeps the library's
 * own page, by one of the board's clocks.
 */
#ifndef LIBRARY_CLOCK_H
#define LIBRARY_CLOCK_H

#include <stdbool.h>

#include "device.h"
#include "clock/servo/servo.h"

/* False if the servo found no lines by this device. Some ms. */
bool clock_begin(const struct device *device, double tsc_hz);

const struct servo *clock_servo(void);

#endif
