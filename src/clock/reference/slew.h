/* SPDX-License-Identifier: MIT */
/*
 * slew: how CLOCK_REALTIME is being steered, as adjtimex tells it. The kernel's frequency and tick
 * are exact; a pending phase is worked off once a second; what is left of an adjtime() is told one
 * second too late. So the rate is what is told, and the limit what it may be.
 */
#ifndef REFERENCE_SLEW_H
#define REFERENCE_SLEW_H

#include <stdbool.h>
#include <stdint.h>

struct timex;

struct slew {
    bool is_known;     /* else adjtimex is refused here, and the limit is all that it could do */
    int64_t rate_ppb;  /* of CLOCK_REALTIME against the kernel's own clock, as told */
    uint64_t most_ppb; /* CLOCK_REALTIME's pace differs from UTC's by no more, unless measured */
};

/* The word is 500 ppm for the frequency and adjtime(), and what tick and pending phase add. */
struct slew slew_of(const struct timex *timex, int64_t adjtime_us);

/* The phase that the kernel's own loop has still to work off, as adjtimex tells it. */
int64_t slew_pending_ns(const struct timex *timex);

/* Nobody tells. */
struct slew slew_unknown(void);

/* Ask the kernel: two system calls. */
struct slew slew_read(void);

#endif
