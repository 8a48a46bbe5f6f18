/* SPDX-License-Identifier: MIT */
#include "refusal.h"

#include <stdarg.h>
#include <stdio.h>

static void add(struct refusal_list *list, struct timebase_calendar_problem head,
                const char *format, va_list arguments)
{
    if (!head.warning)
        list->faults++;
    if (list->count++ >= list->capacity)
        return;
    struct timebase_calendar_problem *problem = &list->problems[list->count - 1];
    *problem = head;
    vsnprintf(problem->text, sizeof(problem->text), format, arguments);
}

static struct timebase_calendar_problem head_of(int kind, int warning, struct refusal_place place)
{
    struct timebase_calendar_problem head = {.kind = kind,
                                             .warning = warning,
                                             .unit = place.unit,
                                             .other = place.other,
                                             .at_ns = place.at_ns};
    return head;
}

void refusal_fault(struct refusal_list *list, int kind, struct refusal_place place,
                   const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(list, head_of(kind, 0, place), format, arguments);
    va_end(arguments);
}

void refusal_warning(struct refusal_list *list, int kind, struct refusal_place place,
                     const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(list, head_of(kind, 1, place), format, arguments);
    va_end(arguments);
}

/* Not by floating point: its printing follows the locale, and loses digits. */
struct time_text time_text(int64_t ns)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
    struct time_text out;
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    const char *sign = ns < 0 ? "-" : "";
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        uint64_t unit = (uint64_t)units[i].ns;
        if (size < unit)
            continue;
        unsigned thousandths = (unsigned)(size % unit / (unit / 1000)), digits = 3;
        for (; digits > 0 && thousandths % 10 == 0; digits--)
            thousandths /= 10;
        if (digits == 0)
            snprintf(out.text, sizeof(out.text), "%s%llu %s", sign,
                     (unsigned long long)(size / unit), units[i].name);
        else
            snprintf(out.text, sizeof(out.text), "%s%llu.%0*u %s", sign,
                     (unsigned long long)(size / unit), (int)digits, thousandths, units[i].name);
        return out;
    }
    snprintf(out.text, sizeof(out.text), "%s%llu ns", sign, (unsigned long long)size);
    return out;
}
