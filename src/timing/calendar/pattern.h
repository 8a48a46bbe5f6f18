/* SPDX-License-Identifier: MIT */
/*
 * pattern: when a unit is released: a first time, a period, and a count, which is finite because
 * the life of a calendar is. Times are after the calendar's start.
 *
 * Ranges: every field of a unit that has been checked (fields.c) is at most PATTERN_LIFE_NS, 2^60;
 * so the sum of any seven of them fits an int64_t, and so does every ready time.
 */
#ifndef CALENDAR_PATTERN_H
#define CALENDAR_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/calendar.h>

#define PATTERN_LIFE_NS ((int64_t)1 << 60)
#define PATTERN_NO_DEADLINE INT64_MAX

struct pattern {
    int64_t ready_ns;    /* of release 0 */
    int64_t period_ns;   /* > 0; for a unit released once the life */
    int64_t wcet_ns;     /* worst-case execution time, > 0 */
    int64_t deadline_ns; /* done within this of its ready time, or PATTERN_NO_DEADLINE */
    uint64_t count;      /* of releases: those before the calendar's length and its life */
    bool is_endless;     /* nothing but the length and the life ends it */
};

/* Of a checked unit, moved by so much; its deadline still counts from where it was. */
struct pattern pattern_of(const struct timebase_calendar *calendar, uint32_t unit,
                          int64_t moved_ns);

/* When release `number` < count is ready. */
int64_t pattern_ready(const struct pattern *pattern, uint64_t number);

/* Greatest common divisor and least common multiple of positive times; INT64_MAX: too large. */
int64_t pattern_gcd(int64_t a, int64_t b);
int64_t pattern_lcm(int64_t a, int64_t b);

#endif
