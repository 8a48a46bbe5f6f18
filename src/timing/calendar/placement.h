/* SPDX-License-Identifier: MIT */
/*
 * placement: where a calendar falls on the comb of the kernel's tick, and how far each unit is
 * moved to be off it. calendar.h has the rule ("The tick").
 */
#ifndef CALENDAR_PLACEMENT_H
#define CALENDAR_PLACEMENT_H

#include "pattern.h"

/* The preparation and the last polls before the beginning must not be disturbed either. */
#define PLACEMENT_APPROACH_NS 5000

struct placement {
    bool is_known; /* where the start falls on the comb; if not, no unit is judged or moved */
    int64_t start_phase_ns; /* start - comb->phase_ns, modulo the comb's period */
    int64_t moved_ns[TIMEBASE_CALENDAR_UNITS];
};

/* Of a calendar whose fields are right. */
void placement_make(struct placement *placement, const struct timebase_calendar *calendar);

/* The first start from earliest_ns on that the placement allows. */
int64_t placement_start(const struct placement *placement, const struct timebase_calendar *calendar,
                        int64_t earliest_ns);

enum placement_tick {
    PLACEMENT_OFF_TICK,
    PLACEMENT_ON_TICK,   /* moving the unit would help */
    PLACEMENT_ON_AND_OFF /* some of its releases are hit, wherever it is */
};

/* Where the unit is after it was moved. */
enum placement_tick placement_of(const struct placement *placement,
                                 const struct timebase_calendar *calendar, uint32_t unit);

#endif
