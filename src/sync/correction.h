/* SPDX-License-Identifier: MIT */
/*
 * correction: from what was measured of a CPU to the lines by which its counter is corrected. Pure.
 *
 * The first lines of a CPU are the measurement itself, if it is a good one. Later ones begin where the
 * present ones end, go over to the new measurement by a slope 500 ppm off at most, and then go on
 * at the drift's pace: so what the CPU shows has no step, whenever they are published. Of a measurement that is much wider than
 * the best one only its ends count: within them the present lines may be as good.
 */
#ifndef SYNC_CORRECTION_H
#define SYNC_CORRECTION_H

#include "clock/counter/by_cpu.h"
#include "skew.h"

/* Further off than this it is no drift: the counter was set, or stood still. */
enum { CORRECTION_MOST_TICKS = 200000 };

struct correction_measured {
    uint64_t ticks;          /* by the reference CPU's, when the offset was in */
    struct skew_range range; /* this: counter there - the reference CPU's */
    bool is_rough;           /* much wider than the best */
    double rate;             /* the offset grows by this: ticks per tick */
};

enum correction_result {
    CORRECTION_BEGUN,     /* there were no lines, or none of a counter that has begun anew since */
    CORRECTION_GOES_ON,   /* the new lines begin on the present ones */
    CORRECTION_STAYS,     /* the last of the present lines has not begun, or it holds for longer */
    CORRECTION_JUMPED,    /* they are wrong by more than any slew can mend: none */
    CORRECTION_TOO_ROUGH, /* there were no such lines, and this is nothing to begin with, or of later
                           * than `until`, which somebody has read by lines of before a sleep: none */
};

/*
 * The lines that follow `present` from its end on (present->is_known: 0: nobody follows any), and
 * themselves end at the tick `until` of the reference CPU. *off_ticks: by how much the present ones
 * were off at their end.
 */
enum correction_result correction_plan(const struct by_cpu_entry *present,
                                       const struct correction_measured *measured, uint64_t now,
                                       uint64_t until, struct by_cpu_entry *out,
                                       uint64_t *off_ticks);

#endif
