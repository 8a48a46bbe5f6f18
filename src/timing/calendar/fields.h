/* SPDX-License-Identifier: MIT */
/* fields: is each field of a calendar and its units in its range, by itself? */
#ifndef CALENDAR_FIELDS_H
#define CALENDAR_FIELDS_H

#include "refusal.h"

/* Only after this has added no fault may the rest of a calendar be looked at. */
void fields_check(const struct timebase_calendar *calendar, struct refusal_list *list);

#endif
