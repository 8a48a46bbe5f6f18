/* SPDX-License-Identifier: MIT */
/* problem: the list that an admission fills, and the words in it. */
#ifndef CALENDAR_PROBLEM_H
#define CALENDAR_PROBLEM_H

#include <stdint.h>

#include <timebase/calendar.h>

struct problem_list {
    const struct timebase_calendar *calendar;
    struct timebase_calendar_problem *problems;
    int capacity;
    int count;  /* of all, stored or not */
    int faults; /* of those that are no warnings */
};

/* Where a problem is; the rest of it is filled in. */
struct problem_place {
    uint32_t unit;
    uint32_t other;
    int64_t at_ns;
};

/* One more. Nothing is formatted if it is only counted. */
void problem_fault(struct problem_list *list, int kind, struct problem_place place,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
void problem_warning(struct problem_list *list, int kind, struct problem_place place,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A time for people: "250 ns", "1.5 us", "20 ms", "3 s"; exact to a thousandth of its unit. */
struct time_text {
    char text[32];
};
struct time_text time_text(int64_t ns);

/* Names may be long and the text is short. */
#define PROBLEM_NAME "'%.40s'"

#endif
