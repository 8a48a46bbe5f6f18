/* SPDX-License-Identifier: MIT */
/*
 * In place of src/timing/calendar/refusal.c, which prints by the C library: what a problem is and
 * where is kept, its words are the format itself.
 */
#include "timing/calendar/refusal.h"

static void add(struct refusal_list *list, int kind, int warning, struct refusal_place place,
                const char *format)
{
    list->faults += !warning;
    if (list->count++ >= list->capacity)
        return;
    struct timebase_calendar_problem *problem = &list->problems[list->count - 1];
    *problem = (struct timebase_calendar_problem){.kind = kind,
                                                  .warning = warning,
                                                  .unit = place.unit,
                                                  .other = place.other,
                                                  .at_ns = place.at_ns};
    for (unsigned i = 0; i + 1 < sizeof(problem->text) && format[i] != 0; i++)
        problem->text[i] = format[i];
}

void refusal_fault(struct refusal_list *list, int kind, struct refusal_place place,
                   const char *format, ...)
{
    add(list, kind, 0, place, format);
}

void refusal_warning(struct refusal_list *list, int kind, struct refusal_place place,
                     const char *format, ...)
{
    add(list, kind, 1, place, format);
}

struct time_text time_text(int64_t ns)
{
    struct time_text none = {""};
    (void)ns;
    return none;
}
