/* SPDX-License-Identifier: MIT */
/*
 * admission: all that is found out about a calendar before it starts, and what the run goes by.
 * Each check is a file; each adds what it finds to the list.
 */
#ifndef CALENDAR_ADMISSION_H
#define CALENDAR_ADMISSION_H

#include "pattern.h"
#include "placement.h"
#include "refusal.h"

/* Some 35 KB, for a stack. */
struct admission {
    const struct timebase_calendar *calendar;
    struct problem_list list;
    struct placement placement;
    struct pattern patterns[TIMEBASE_CALENDAR_UNITS];
};

/*
 * Everything. waiter may be null. Returns 0 or TIMEBASE_E_INVALID: a waiter that is not
 * initialised. Placement and patterns are made only if no field is out of range.
 */
int admission_make(struct admission *admission, const struct timebase_calendar *calendar,
                   const struct timebase_waiter *waiter, struct timebase_calendar_problem *problems,
                   int capacity);

/* Two units claim the same time: exact. Returns whether any do. */
bool admission_check_overlaps(struct admission *admission);

/* At no time do the units then active ask for more than the calendar's utilisation. */
void admission_check_utilisation(struct admission *admission);

/* Each unit by itself can end within its deadline. */
void admission_check_deadlines(struct admission *admission);

/* And so it does if it has to wait for others: the whole pattern is run through. */
void admission_check_order(struct admission *admission);

/* What this machine can wait for. */
void admission_check_machine(struct admission *admission,
                             const struct timebase_waiter_description *machine);

/* What is left on the kernel's tick. */
void admission_check_tick(struct admission *admission);

static inline const struct timebase_unit *admission_unit(const struct admission *admission,
                                                         uint32_t unit)
{
    return &admission->calendar->units[unit];
}

#endif
