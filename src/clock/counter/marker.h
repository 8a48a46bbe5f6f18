/* SPDX-License-Identifier: MIT */
/*
 * marker: what the hypervisor's page, vmclock, says of moves, as one number. Its disruption marker
 * changes with a migration, its generation with a restored snapshot; this number with either. The
 * daemon stores it in its page for the moves that its lines account for, and an attached clock
 * compares that with what it sees itself (spec/page.md, "Moves").
 */
#ifndef COUNTER_MARKER_H
#define COUNTER_MARKER_H

#include <stdint.h>

/* generation: 0 where vmclock has none. Never 0, which is for "not told": a hypervisor may count
 * from 0. */
static inline uint64_t counter_marker(uint64_t disruption_marker, uint64_t generation)
{
    const uint64_t odd = 0x9e3779b97f4a7c15; /* spreads small numbers over all 64 bits */
    uint64_t marker = disruption_marker + generation * odd;
    return marker + 1 != 0 ? marker + 1 : 1;
}

#endif
