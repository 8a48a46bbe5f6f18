/* SPDX-License-Identifier: MIT */
/* admit: all checks of a calendar, in their order. */
#ifndef CALENDAR_ADMIT_H
#define CALENDAR_ADMIT_H

#include "admission.h"

/*
 * Everything. waiter may be null. Returns 0 or TIMEBASE_E_INVALID: a waiter that is not
 * initialised. Placement and patterns are made only if no field is out of range.
 */
int admission_make(struct admission *admission, const struct timebase_calendar *calendar,
                   const struct timebase_waiter *waiter, struct timebase_calendar_problem *problems,
                   int capacity);

#endif
