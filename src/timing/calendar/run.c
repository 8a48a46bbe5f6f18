/* SPDX-License-Identifier: MIT */
#include "account.h"
#include "admit.h"
#include "real_machine.h"

/* From the call to the start, if the caller gave no start: time for the first wait to sleep and to
 * prepare. */
#define LEAD_NS 1000000

static bool has_timeouts(const struct timebase_calendar *calendar)
{
    for (uint32_t i = 0; i < calendar->unit_count; i++)
        if (calendar->units[i].timeout_ns > 0)
            return true;
    return false;
}

static int run_admitted(const struct admission *admission, struct real_machine *machine,
                        struct timebase_unit_result *results)
{
    const struct timebase_calendar *calendar = admission->calendar;
    int64_t now_ns = timebase_mono_ns(machine->clock);
    if (calendar->start_ns > 0 && calendar->start_ns < now_ns)
        return TIMEBASE_E_STALE;
    struct dispatch dispatch = {
        .calendar = calendar,
        .patterns = admission->patterns,
        .start_ns = placement_start(&admission->placement, calendar, now_ns + LEAD_NS),
        .machine = &real_machine_operations,
        .context = machine,
        .results = results,
    };
    return dispatch_run(&dispatch);
}

TIMEBASE_API int timebase_calendar_run(const struct timebase_calendar *calendar,
                                       struct timebase_waiter *waiter,
                                       struct timebase_unit_result *results)
{
    struct admission admission;
    struct real_machine machine;
    struct timeout timeout;
    if (calendar == NULL || calendar->units == NULL || waiter == NULL || results == NULL ||
        admission_make(&admission, calendar, waiter, NULL, 0) < 0)
        return TIMEBASE_E_INVALID;
    if (admission.list.faults > 0)
        return 1;
    account_begin(results, calendar->unit_count, admission.placement.moved_ns);
    bool is_timed = has_timeouts(calendar);
    int error = is_timed ? timeout_open(&timeout) : TIMEBASE_OK;
    if (error < 0)
        return error;
    error = real_machine_begin(&machine, waiter, is_timed ? &timeout : NULL);
    if (error == TIMEBASE_OK)
        error = run_admitted(&admission, &machine, results);
    if (is_timed)
        timeout_close(&timeout);
    return error;
}
