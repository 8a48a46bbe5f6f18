/* SPDX-License-Identifier: MIT */
/*
 * agree: where most claims say that UTC is, and who says otherwise. Marzullo's algorithm as NTP
 * uses it (RFC 5905, 11.2.1): the smallest range that more than half of the claims overlap. Pure.
 */
#ifndef REFERENCE_AGREE_H
#define REFERENCE_AGREE_H

#include <stdbool.h>
#include <stdint.h>

#include "claim.h"

#define AGREE_CLAIMS 16 /* at most */

struct agreement {
    bool is_reached;      /* more than half agree */
    bool is_synchronized; /* and all that agree follow UTC */
    int64_t low_ns;       /* CLOCK_REALTIME - UTC lies between these */
    int64_t high_ns;
    unsigned agreeing;
    unsigned count;
    uint64_t liars; /* bit i: claim i has nothing in common with [low_ns, high_ns] */
};

/*
 * Of count claims, at monotonic time mono_ns; each has since grown by its own growth_ppb and by
 * drift_ppb, the oscillator's allowance. None: not reached.
 */
struct agreement agree(const struct reference_claim *claims, unsigned count, int64_t mono_ns,
                       uint32_t drift_ppb);

#endif
