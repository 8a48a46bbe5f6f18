/* SPDX-License-Identifier: MIT */
/*
 * admission: what is found out about a calendar before it starts, and what the run goes by. Each
 * check is a file, admission_<check>.c, that adds what it finds to the list; admit.h calls them.
 *
 * The files of this folder form layers. A file calls those of the layers below its own; x.c and x.h
 * count as one file.
 *
 *     run  tick_learn             the public functions, and timebase_calendar_admit() of admit
 *     admit                       all checks in their order
 *     dispatch  real_machine      the loop of a run; what it asks of this machine
 *     admission_<check>  timeout_open  tick
 *     admission  fields  placement  timeout  tick_candidate
 *     overlap  queue  refusal  account
 *     pattern  calendar_names     know no other
 */
#ifndef CALENDAR_ADMISSION_H
#define CALENDAR_ADMISSION_H

#include "pattern.h"
#include "placement.h"
#include "refusal.h"

/* Some 35 KB, for a stack. */
struct admission {
    const struct timebase_calendar *calendar;
    struct refusal_list list;
    struct placement placement;
    struct pattern patterns[TIMEBASE_CALENDAR_UNITS];
};

/* Two units claim the same time: exact. Returns whether any do. */
bool admission_check_overlaps(struct admission *admission);

/* At no time do the units then active ask for more than the calendar's utilisation. */
void admission_check_utilisation(struct admission *admission);

/* Each unit by itself can end within its deadline. */
void admission_check_deadlines(struct admission *admission);

/* Each unit also ends within its deadline if it has to wait for others. Runs through the whole
 * pattern. */
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
