/* SPDX-License-Identifier: MIT */
/*
 * leap_guard: what the system clock is worth around a leap second. The kernel steps it at the leap
 * (back a second where one is inserted, ahead where one is left out); the page learns of it at its
 * next sample and follows a lead later. Between, its UTC is off by that second, and for readers of
 * lines drawn earlier too. So from shortly before the leap until the second is over and the step is
 * seen, the claim is a second wider and nobody calls it synchronised. Pure.
 */
#ifndef DAEMON_LEAP_GUARD_H
#define DAEMON_LEAP_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "../src/discipline/discipline.h"

struct leap_guard {
    bool is_open;      /* near a leap: claims are widened */
    int64_t at_utc_ns; /* when the clock is to be stepped, by its own reading before */
    int64_t at_mono_ns;
    int64_t until_mono_ns; /* the second is over, once the step was seen; INT64_MAX: not yet */
    int64_t step_ns;       /* of UTC - monotonic: -1 s inserted, +1 s left out */
    int64_t utc_offset_ns; /* before it */
};

/* Takes a sample on its way to the discipline. True while the leap is near. */
bool leap_guard_apply(struct leap_guard *guard, struct discipline_sample *sample);

#endif
