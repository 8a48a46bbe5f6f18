/* SPDX-License-Identifier: MIT */
/*
 * calibration, quiet: what is measured while a neighbour uses the core is longer, by an eighth behind a
 * stamp. It comes and goes within milliseconds, and readings that are equally far apart show it: on a
 * quiet core 32 series of them have the same slope but for what the counter's step makes of it, and
 * beside a neighbour another each time.
 *
 * Where the counter's steps are fine this is not looked at: there a calibration takes the mean of both.
 */
#ifndef CALIBRATION_CALIBRATION_QUIET_H
#define CALIBRATION_CALIBRATION_QUIET_H

#include "timing/waiter/waiter.h"

/* What is not quiet by then is calibrated as it is. */
struct quiet {
    uint64_t until;     /* ticks: so long it is waited for */
    int series;         /* which readings */
    double first_ticks; /* from one to the next, when the first part was begun */
    double least_ticks; /* ... and the least that was seen */
};

/* Before the first part, once readings have been found. */
void quiet_begin(struct quiet *quiet, const struct waiter *waiter);

typedef void quiet_part(struct waiter *waiter);

/* A part of a calibration: once the core is quiet, and again if it no longer is when that ends. */
void quiet_run(struct quiet *quiet, struct waiter *waiter, quiet_part *part);

/*
 * Has it been quieter since the first part, and is there time to begin anew? A neighbour that does the
 * same all the time leaves readings equally far apart, but farther.
 */
int quiet_was_none(const struct quiet *quiet);

#endif
