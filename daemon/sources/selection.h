/* SPDX-License-Identifier: MIT */
/*
 * selection: the range in which most claims see UTC, and the falsetickers. Marzullo's algorithm as
 * NTP uses it (RFC 5905, 11.2.1): as few falsetickers as possible are assumed, fewer than half in
 * any case, and the range is from the first to the last point that all others have in common. Pure.
 *
 * Claims that follow UTC are bounds; those that do not are estimates, and vote only where there is
 * no bound. A claim that knows nothing (error_ns UINT64_MAX) neither votes nor is a falseticker.
 */
#ifndef SOURCES_SELECTION_H
#define SOURCES_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "claim.h"

#define SELECTION_CLAIMS 16 /* at most */

struct selection {
    bool is_reached;      /* more than half of the voters agree */
    bool is_synchronized; /* and they follow UTC */
    int64_t low_ns;       /* CLOCK_REALTIME - UTC lies between these; not reached: anywhere */
    int64_t high_ns;
    unsigned agreeing;     /* voters that agree */
    unsigned count;        /* voters */
    uint64_t falsetickers; /* bit i: claim i has nothing in common with [low_ns, high_ns] */
};

/*
 * Of count claims (the first SELECTION_CLAIMS, if there are more), at monotonic time mono_ns; each
 * has since grown by its own dispersion_ppb and by drift_ppb, the oscillator's allowance. None: not
 * reached. If no majority is reached, no claim can be called a falseticker.
 */
struct selection selection_of(const struct claim *claims, unsigned count, int64_t mono_ns,
                              uint32_t drift_ppb);

#endif
