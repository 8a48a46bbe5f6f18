/* SPDX-License-Identifier: MIT */
/*
 * calendar_machine: a machine for the dispatcher with a time of its own. How late it wakes up and
 * how long units run is the scenario's to say; each call is held against what must always hold:
 * ready order, and nothing before its time.
 */
#ifndef SIMULATION_CALENDAR_REAL_MACHINE_H
#define SIMULATION_CALENDAR_REAL_MACHINE_H

#include "timing/calendar/account.h"
#include "timing/calendar/dispatch.h"

#include "../unit/calendar_units.h"
#include "../unit/dice.h"

#define SIMULATED_UNITS 8
#define NEVER_ENDS INT64_MAX
#define START_NS (1000 * (int64_t)SEC)

struct simulated {
    /* The scenario. Null functions: no delay, always the whole duration. */
    int64_t (*runs_ns)(struct simulated *simulated, uint32_t unit);
    int64_t (*delay_ns)(struct simulated *simulated, uint32_t unit);
    int64_t wakes_early_by_ns; /* a rest ends so long before it should, as signals make it */
    int64_t stop_at_ns;        /* the stop flag is set then; 0: never */
    int64_t fails_at_ns;       /* calls fail from then on; 0: never */
    struct dice *dice;
    /* What goes on. */
    struct timebase_calendar calendar;
    struct timebase_unit_result results[SIMULATED_UNITS];
    struct pattern patterns[SIMULATED_UNITS];
    int64_t now_ns;
    int stop;
    int64_t stopped_ns; /* when the flag was set */
    uint64_t rests, calls, looks;
    int64_t longest_blind_ns; /* between two looks at the time while no unit was due */
    int64_t last_look_ns;
    int64_t last_target_ns;
    uint32_t last_unit;
};

static inline void simulated_pass(struct simulated *simulated, int64_t ns)
{
    simulated->now_ns += ns;
    if (simulated->stop_at_ns > 0 && simulated->now_ns >= simulated->stop_at_ns &&
        !simulated->stop) {
        simulated->stop = 1;
        simulated->stopped_ns = simulated->now_ns;
    }
}

static inline int64_t simulated_now(void *context)
{
    struct simulated *simulated = context;
    int64_t blind_ns = simulated->now_ns - simulated->last_look_ns;
    if (simulated->last_look_ns > 0 && blind_ns > simulated->longest_blind_ns)
        simulated->longest_blind_ns = blind_ns;
    simulated->last_look_ns = simulated->now_ns;
    simulated->looks++;
    return simulated->now_ns;
}

static inline void simulated_rest(void *context, int64_t until_ns, uint32_t flags)
{
    struct simulated *simulated = context;
    int64_t left_ns = until_ns - simulated->now_ns;
    (void)flags;
    assert_true(left_ns > 0 && left_ns <= DISPATCH_SLICE_NS);
    simulated->rests++;
    if (left_ns > simulated->wakes_early_by_ns)
        left_ns -= simulated->wakes_early_by_ns;
    simulated_pass(simulated, left_ns);
}

static inline void simulated_check_order(struct simulated *simulated, uint32_t unit,
                                         int64_t target_ns)
{
    assert_true(target_ns >= simulated->last_target_ns);
    if (target_ns == simulated->last_target_ns && simulated->calls > 0)
        assert_true(unit > simulated->last_unit);
    simulated->last_target_ns = target_ns;
    simulated->last_unit = unit;
}

static inline int simulated_call(void *context, const struct timebase_unit *unit, int64_t target_ns,
                                 struct dispatch_outcome *outcome)
{
    struct simulated *simulated = context;
    uint32_t index = (uint32_t)(unit - simulated->calendar.units);
    int64_t before_ns = simulated->now_ns;
    if (simulated->fails_at_ns > 0 && before_ns >= simulated->fails_at_ns)
        return TIMEBASE_E_UNSUPPORTED;
    simulated_check_order(simulated, index, target_ns);
    assert_true(target_ns - before_ns <= DISPATCH_HANDOVER_NS);
    if (before_ns < target_ns)
        simulated_pass(simulated, target_ns - before_ns);
    if (simulated->delay_ns != NULL)
        simulated_pass(simulated, simulated->delay_ns(simulated, index));
    outcome->error_ns = (double)(simulated->now_ns - target_ns);
    outcome->is_late = simulated->now_ns > target_ns;
    outcome->ran_ns =
        simulated->runs_ns != NULL ? simulated->runs_ns(simulated, index) : unit->duration_ns;
    outcome->is_timed_out = unit->timeout_ns > 0 && outcome->ran_ns > unit->timeout_ns;
    if (outcome->is_timed_out)
        outcome->ran_ns = unit->timeout_ns;
    assert_true(outcome->ran_ns != NEVER_ENDS);
    simulated_pass(simulated, outcome->ran_ns);
    simulated->calls++;
    simulated->last_look_ns = 0; /* a unit is not looked away from */
    return TIMEBASE_OK;
}

static const struct dispatch_machine simulated_operations = {simulated_now, simulated_rest,
                                                             simulated_call};

/* Of a scenario, with the calendar's units in place: from one ms before the start. */
static inline int simulated_run(struct simulated *simulated)
{
    static const int64_t unmoved[SIMULATED_UNITS];
    struct timebase_calendar *calendar = &simulated->calendar;
    if (calendar->start_ns == 0)
        calendar->start_ns = START_NS;
    calendar->stop = &simulated->stop;
    if (simulated->now_ns == 0)
        simulated->now_ns = calendar->start_ns - MS;
    for (uint32_t i = 0; i < calendar->unit_count; i++)
        simulated->patterns[i] = pattern_of(calendar, i, 0);
    account_begin(simulated->results, calendar->unit_count, unmoved);
    struct dispatch dispatch = {calendar,           simulated->patterns,
                                calendar->start_ns, &simulated_operations,
                                simulated,          simulated->results};
    return dispatch_run(&dispatch);
}

#endif
