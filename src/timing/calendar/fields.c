/* SPDX-License-Identifier: MIT */
#include "fields.h"

#include <inttypes.h>

#include "pattern.h"

#define KNOWN_FLAGS                                                                                \
    (TIMEBASE_WAIT_PLAIN | TIMEBASE_WAIT_NEVER_EARLY | TIMEBASE_WAIT_SLEEP |                       \
     TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_REHEARSE | TIMEBASE_WAIT_SAVE_POWER |               \
     TIMEBASE_WAIT_STEADY)
#define LOG_CAPACITY_MAX (1u << 31)
/* The slowest tick of any kernel is 24 Hz. */
#define COMB_PERIOD_MAX_NS 1000000000

static const struct refusal_place whole = {0, 0, 0};

static bool is_time(int64_t ns)
{
    return ns >= 0 && ns <= PATTERN_LIFE_NS;
}

static bool is_switch(uint32_t value)
{
    return value <= 1;
}

static void bad_calendar(struct refusal_list *list, const char *field, const char *wanted)
{
    refusal_fault(list, TIMEBASE_CALENDAR_BAD_CALENDAR, whole, "%s of the calendar must be %s",
                  field, wanted);
}

static void check_log(const struct timebase_release_log *log, struct refusal_list *list)
{
    if (log == NULL)
        return;
    if (log->entries == NULL)
        bad_calendar(list, "log->entries", "an array, not null");
    if (log->capacity == 0 || log->capacity > LOG_CAPACITY_MAX ||
        (log->capacity & (log->capacity - 1)) != 0)
        bad_calendar(list, "log->capacity", "a power of two up to 2^31");
}

static void check_comb(const struct timebase_calendar *calendar, struct refusal_list *list)
{
    const struct timebase_tick_comb *comb = calendar->comb;
    if (!is_switch(calendar->avoid_tick))
        bad_calendar(list, "avoid_tick", "0 or 1");
    if (calendar->avoid_tick && comb == NULL)
        bad_calendar(list, "comb", "given for avoid_tick: learn it by timebase_tick_comb_learn()");
    if (comb == NULL)
        return;
    if (comb->period_ns < 0 || comb->period_ns > COMB_PERIOD_MAX_NS)
        bad_calendar(list, "comb->period_ns", "from 0 to 1 s");
    else if (comb->period_ns > 0 &&
             (comb->phase_ns < 0 || comb->phase_ns >= comb->period_ns || comb->width_ns < 0 ||
              comb->width_ns > comb->period_ns))
        bad_calendar(list, "comb", "one that was learnt: phase and width within the period");
}

static void check_calendar(const struct timebase_calendar *calendar, struct refusal_list *list)
{
    double utilisation = calendar->utilisation;
    if (calendar->unit_count == 0 || calendar->unit_count > TIMEBASE_CALENDAR_UNITS)
        bad_calendar(list, "unit_count", "from 1 to 512");
    if (!is_time(calendar->start_ns))
        bad_calendar(list, "start_ns", "from 0 to 2^60: monotonic ns, or 0 for now");
    if (!is_time(calendar->length_ns))
        bad_calendar(list, "length_ns", "from 0 to 2^60 ns (36 years)");
    if (!(utilisation >= 0 && utilisation <= 1))
        bad_calendar(list, "utilisation", "from 0 (which means 1) to 1");
    if (!is_switch(calendar->may_overlap))
        bad_calendar(list, "may_overlap", "0 or 1");
    if (calendar->unused != 0)
        bad_calendar(list, "unused", "0");
    check_comb(calendar, list);
    check_log(calendar->log, list);
}

/* A unit under the check, for the functions below. */
struct subject {
    const struct timebase_unit *unit;
    const char *name;
    struct refusal_place place;
    struct refusal_list *list;
};

static void check_time(const struct subject *subject, const char *field, int64_t ns)
{
    if (!is_time(ns))
        refusal_fault(subject->list, TIMEBASE_CALENDAR_BAD_UNIT, subject->place,
                      REFUSAL_NAME ": %s is %" PRId64 "; it must be from 0 to 2^60 ns (36 years)",
                      subject->name, field, ns);
}

static void check_times(const struct subject *subject)
{
    const struct timebase_unit *unit = subject->unit;
    check_time(subject, "ready_ns", unit->ready_ns);
    check_time(subject, "period_ns", unit->period_ns);
    check_time(subject, "duration_ns", unit->duration_ns);
    check_time(subject, "deadline_ns", unit->deadline_ns);
    check_time(subject, "timeout_ns", unit->timeout_ns);
    if (unit->duration_ns == 0)
        refusal_fault(subject->list, TIMEBASE_CALENDAR_BAD_UNIT, subject->place,
                      REFUSAL_NAME ": duration_ns is 0; give the longest time that it runs",
                      subject->name);
    if (unit->period_ns == 0 && unit->releases > 1)
        refusal_fault(subject->list, TIMEBASE_CALENDAR_BAD_UNIT, subject->place,
                      REFUSAL_NAME ": %" PRIu64 " releases, but no period_ns between them",
                      subject->name, unit->releases);
}

static void check_rest(const struct subject *subject)
{
    const struct timebase_unit *unit = subject->unit;
    if (unit->name == NULL)
        refusal_fault(subject->list, TIMEBASE_CALENDAR_BAD_UNIT, subject->place,
                      "unit %" PRIu32 " has no name; give it one", subject->place.unit);
    if (unit->action == NULL)
        refusal_fault(subject->list, TIMEBASE_CALENDAR_BAD_UNIT, subject->place,
                      REFUSAL_NAME ": no action; give the function to call", subject->name);
    if ((unit->flags & ~(uint32_t)KNOWN_FLAGS) != 0)
        refusal_fault(subject->list, TIMEBASE_CALENDAR_BAD_UNIT, subject->place,
                      REFUSAL_NAME ": flags 0x%" PRIx32 " are unknown; see enum timebase_wait_flag",
                      subject->name, unit->flags & ~(uint32_t)KNOWN_FLAGS);
    if (unit->unused != 0)
        refusal_fault(subject->list, TIMEBASE_CALENDAR_BAD_UNIT, subject->place,
                      REFUSAL_NAME ": unused must be 0", subject->name);
}

/* Each field is in its range; do they make sense together? */
static void check_sense(const struct subject *subject, int64_t length_ns)
{
    const struct timebase_unit *unit = subject->unit;
    if (unit->timeout_ns > 0 && unit->timeout_ns < unit->duration_ns)
        refusal_warning(subject->list, TIMEBASE_CALENDAR_BAD_UNIT, subject->place,
                        REFUSAL_NAME ": stopped after %s, before its duration of %s is over",
                        subject->name, time_text(unit->timeout_ns).text,
                        time_text(unit->duration_ns).text);
    if (unit->period_ns > 0 && unit->deadline_ns > unit->period_ns)
        refusal_warning(subject->list, TIMEBASE_CALENDAR_BAD_UNIT, subject->place,
                        REFUSAL_NAME ": deadline of %s above the period of %s: releases may queue",
                        subject->name, time_text(unit->deadline_ns).text,
                        time_text(unit->period_ns).text);
    if (length_ns > 0 && unit->ready_ns >= length_ns)
        refusal_warning(subject->list, TIMEBASE_CALENDAR_BAD_UNIT, subject->place,
                        REFUSAL_NAME ": never released: first ready at %s, calendar ends at %s",
                        subject->name, time_text(unit->ready_ns).text, time_text(length_ns).text);
}

void fields_check(const struct timebase_calendar *calendar, struct refusal_list *list)
{
    check_calendar(calendar, list);
    if (list->faults > 0)
        return;
    for (uint32_t i = 0; i < calendar->unit_count; i++) {
        const struct timebase_unit *unit = &calendar->units[i];
        const char *name = unit->name != NULL ? unit->name : "(no name)";
        struct subject subject = {unit, name, {i, i, unit->ready_ns}, list};
        int faults = list->faults;
        check_times(&subject);
        check_rest(&subject);
        if (list->faults == faults)
            check_sense(&subject, calendar->length_ns);
    }
}
