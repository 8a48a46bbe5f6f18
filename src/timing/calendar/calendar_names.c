/* SPDX-License-Identifier: MIT */
#include <timebase/calendar.h>

TIMEBASE_API const char *timebase_calendar_problem_name(int kind)
{
    switch (kind) {
    case TIMEBASE_CALENDAR_BAD_UNIT:
        return "bad unit";
    case TIMEBASE_CALENDAR_OVERLAP:
        return "overlap";
    case TIMEBASE_CALENDAR_UTILISATION:
        return "utilisation";
    case TIMEBASE_CALENDAR_DEADLINE:
        return "deadline";
    case TIMEBASE_CALENDAR_TOO_SHORT:
        return "too short";
    case TIMEBASE_CALENDAR_ON_TICK:
        return "on tick";
    case TIMEBASE_CALENDAR_CANNOT_SLEEP:
        return "cannot sleep";
    case TIMEBASE_CALENDAR_TOO_LONG:
        return "too long";
    case TIMEBASE_CALENDAR_BAD_CALENDAR:
        return "bad calendar";
    default:
        return "unknown problem";
    }
}

TIMEBASE_API const char *timebase_release_name(int outcome_bit)
{
    switch (outcome_bit) {
    case 0:
        return "in time";
    case TIMEBASE_RELEASE_LATE:
        return "late";
    case TIMEBASE_RELEASE_OVERRUN:
        return "overrun";
    case TIMEBASE_RELEASE_MISSED:
        return "missed";
    case TIMEBASE_RELEASE_TIMED_OUT:
        return "timed out";
    case TIMEBASE_RELEASE_SKIPPED:
        return "skipped";
    case TIMEBASE_RELEASE_DISTURBED:
        return "disturbed";
    default:
        return "unknown outcome";
    }
}
