/* SPDX-License-Identifier: MIT */
/* calendar_units: calendars made in a line, and brute force to hold the library's answers against.
 */
#ifndef TEST_CALENDAR_UNITS_H
#define TEST_CALENDAR_UNITS_H

#include <stdbool.h>
#include <string.h>

#include <timebase/calendar.h>

#include "timing/calendar/pattern.h"

#define US 1000
#define MS 1000000
#define SEC 1000000000

static inline void do_nothing(void *argument)
{
    (void)argument;
}

static inline struct timebase_unit unit_of(const char *name, int64_t ready_ns, int64_t period_ns,
                                           int64_t duration_ns)
{
    struct timebase_unit unit = {.name = name,
                                 .action = do_nothing,
                                 .ready_ns = ready_ns,
                                 .period_ns = period_ns,
                                 .duration_ns = duration_ns};
    return unit;
}

static inline struct timebase_calendar calendar_of(const struct timebase_unit *units,
                                                   uint32_t count)
{
    struct timebase_calendar calendar = {.units = units, .unit_count = count};
    return calendar;
}

/* The first ns at which both claim the time, by looking at every pair of releases; or -1. */
static inline int64_t brute_force_overlap(const struct pattern *a, const struct pattern *b)
{
    int64_t first = -1;
    for (uint64_t i = 0; i < a->count; i++)
        for (uint64_t j = 0; j < b->count; j++) {
            int64_t x = a->ready_ns + (int64_t)i * a->period_ns;
            int64_t y = b->ready_ns + (int64_t)j * b->period_ns;
            int64_t at = x > y ? x : y;
            if (x < y + b->wcet_ns && y < x + a->wcet_ns && (first < 0 || at < first))
                first = at;
        }
    return first;
}

/* How many of a kind are among the stored problems. */
static inline int count_kind(const struct timebase_calendar_problem *problems, int count, int kind)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        found += problems[i].kind == kind;
    return found;
}

#endif
