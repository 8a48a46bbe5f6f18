/* SPDX-License-Identifier: MIT */
/* refusal: the list of problems that an admission fills, and the words in it. */
#ifndef CALENDAR_REFUSAL_H
#define CALENDAR_REFUSAL_H

#include <stdint.h>

#include <timebase/calendar.h>

struct refusal_list {
    const struct timebase_calendar *calendar;
    struct timebase_calendar_problem *problems;
    int capacity;
    int count;  /* of all, stored or not */
    int faults; /* of those that are no warnings */
};

/* Where a problem is; the rest of it is filled in. */
struct refusal_place {
    uint32_t unit;
    uint32_t other;
    int64_t at_ns;
};

/* Add a problem. If there is no room to store it, it is only counted, and no text is made. */
void refusal_fault(struct refusal_list *list, int kind, struct refusal_place place,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
void refusal_warning(struct refusal_list *list, int kind, struct refusal_place place,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A time for people: "250 ns", "1.5 us", "20 ms", "3 s"; exact to a thousandth of its unit. */
struct time_text {
    char text[32];
};
struct time_text time_text(int64_t ns);

/* Names may be long and the text is short. */
#define REFUSAL_NAME "'%.40s'"

#endif
