/* SPDX-License-Identifier: MIT */
#include "admit.h"

#include "fields.h"

static void check_all(struct admission *admission,
                      const struct timebase_waiter_description *machine)
{
    admission_check_deadlines(admission);
    admission_check_utilisation(admission);
    int faults = admission->list.faults;
    bool overlap = admission_check_overlaps(admission);
    /* Without overlaps each unit begins when it is ready, and the deadlines are seen to already. */
    if (overlap && faults == 0 && admission->calendar->may_overlap)
        admission_check_order(admission);
    if (machine != NULL)
        admission_check_machine(admission, machine);
    admission_check_tick(admission);
}

int admission_make(struct admission *admission, const struct timebase_calendar *calendar,
                   const struct timebase_waiter *waiter, struct timebase_calendar_problem *problems,
                   int capacity)
{
    struct timebase_waiter_description machine;
    struct refusal_list list = {calendar, problems, capacity, 0, 0};
    admission->calendar = calendar;
    admission->list = list;
    if (waiter != NULL && timebase_waiter_describe(waiter, &machine) < 0)
        return TIMEBASE_E_INVALID;
    fields_check(calendar, &admission->list);
    if (admission->list.faults > 0)
        return TIMEBASE_OK;
    placement_make(&admission->placement, calendar);
    for (uint32_t i = 0; i < calendar->unit_count; i++)
        admission->patterns[i] = pattern_of(calendar, i, admission->placement.moved_ns[i]);
    check_all(admission, waiter != NULL ? &machine : NULL);
    return TIMEBASE_OK;
}

TIMEBASE_API int timebase_calendar_admit(const struct timebase_calendar *calendar,
                                         const struct timebase_waiter *waiter,
                                         struct timebase_calendar_problem *problems, int capacity)
{
    struct admission admission;
    if (calendar == NULL || (calendar->units == NULL && calendar->unit_count > 0) || capacity < 0 ||
        (problems == NULL && capacity > 0))
        return TIMEBASE_E_INVALID;
    int error = admission_make(&admission, calendar, waiter, problems, capacity);
    return error < 0 ? error : admission.list.count;
}
