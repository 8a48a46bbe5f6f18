/* SPDX-License-Identifier: MIT */
#include "real_machine.h"

#include <errno.h>
#include <time.h>

#define NS_PER_SEC 1000000000
#define TAIL_WAITS 8
#define TAIL_AHEAD_NS 5000
/* A sleeping unit with a time-out is woken so long before, to set the timer for its beginning. */
#define ARM_AHEAD_NS 50000

static int64_t now(void *context)
{
    const struct real_machine *machine = context;
    return timebase_mono_ns(machine->clock);
}

static void sleep_until(int64_t until_ns)
{
    struct timespec until;
    int saved_errno = errno;
    until.tv_sec = (time_t)(until_ns / NS_PER_SEC);
    until.tv_nsec = (long)(until_ns % NS_PER_SEC);
    /* A signal ends it early, and that is wanted: its handler may have set the stop flag. */
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    errno = saved_errno;
}

static void rest(void *context, int64_t until_ns, uint32_t flags)
{
    const struct real_machine *machine = context;
    if (flags & TIMEBASE_WAIT_SLEEP)
        sleep_until(until_ns);
    else
        while (timebase_mono_ns_unordered(machine->clock) < until_ns)
            timebase_arch_relax();
}

static void fill_in(const struct real_machine *machine, const struct timebase_wait_result *result,
                    uint64_t end_ticks, struct dispatch_outcome *outcome)
{
    int64_t ran_ticks = (int64_t)(end_ticks - result->event_ticks);
    outcome->error_ns = result->error_ns;
    outcome->ran_ns = ran_ticks > 0 ? (int64_t)((double)ran_ticks * machine->tick_ns + 0.5) : 0;
    outcome->disturbance = result->disturbance;
    outcome->is_late = result->late;
}

static int call_freely(const struct real_machine *machine, const struct timebase_unit *unit,
                       int64_t target_ns, struct dispatch_outcome *outcome)
{
    struct timebase_wait_result result;
    int error = timebase_wait_call_mono(machine->waiter, target_ns, unit->flags, unit->action,
                                        unit->argument, &result);
    uint64_t end_ticks = timebase_ticks_ordered() - machine->tail_ticks;
    if (error < 0)
        return error;
    fill_in(machine, &result, end_ticks, outcome);
    return TIMEBASE_OK;
}

/*
 * The timer is set before the last approach, because the system call would spoil the approach. The
 * sleep comes before the timer is set: then a sleep that lasts too long takes nothing from the
 * unit's time.
 */
static int call_with_timeout(const struct real_machine *machine, const struct timebase_unit *unit,
                             int64_t target_ns, struct dispatch_outcome *outcome)
{
    struct timeout *timeout = machine->timeout;
    struct timebase_wait_result result;
    uint32_t flags = unit->flags & ~(uint32_t)TIMEBASE_WAIT_SLEEP;
    int64_t now_ns = timebase_mono_ns(machine->clock);
    if (flags != unit->flags && target_ns - now_ns > 2 * ARM_AHEAD_NS) {
        int error =
            timebase_wait_until_mono(machine->waiter, target_ns - ARM_AHEAD_NS, unit->flags, NULL);
        if (error < 0)
            return error;
        now_ns = timebase_mono_ns(machine->clock);
    }
    timeout->action = unit->action;
    timeout->argument = unit->argument;
    timeout_arm(timeout, (target_ns > now_ns ? target_ns : now_ns) + unit->timeout_ns,
                unit->timeout_ns);
    int error =
        timebase_wait_call_mono(machine->waiter, target_ns, flags, timeout_call, timeout, &result);
    outcome->is_timed_out = timeout_disarm(timeout);
    if (error < 0)
        return error;
    fill_in(machine, &result, timeout->end_ticks, outcome);
    return TIMEBASE_OK;
}

static int call(void *context, const struct timebase_unit *unit, int64_t target_ns,
                struct dispatch_outcome *outcome)
{
    const struct real_machine *machine = context;
    return unit->timeout_ns > 0 ? call_with_timeout(machine, unit, target_ns, outcome)
                                : call_freely(machine, unit, target_ns, outcome);
}

const struct dispatch_machine real_machine_operations = {now, rest, call};

static void nothing(void *argument)
{
    (void)argument;
}

/* An undisturbed wait has the shortest tail, so the shortest of several is taken. */
static int learn_tail(struct real_machine *machine)
{
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < TAIL_WAITS; i++) {
        struct timebase_wait_result result;
        int64_t target_ns = timebase_mono_ns(machine->clock) + TAIL_AHEAD_NS;
        int error = timebase_wait_call_mono(machine->waiter, target_ns, 0, nothing, NULL, &result);
        uint64_t tail = timebase_ticks_ordered() - result.event_ticks;
        if (error < 0)
            return error;
        shortest = tail < shortest ? tail : shortest;
    }
    machine->tail_ticks = shortest;
    return TIMEBASE_OK;
}

int real_machine_begin(struct real_machine *machine, struct timebase_waiter *waiter,
                       struct timeout *timeout)
{
    machine->waiter = waiter;
    machine->clock = timebase_clock_default();
    machine->timeout = timeout;
    int64_t now_ns = timebase_mono_ns(machine->clock);
    uint64_t first = timebase_ticks_at_mono(machine->clock, now_ns);
    uint64_t last = timebase_ticks_at_mono(machine->clock, now_ns + NS_PER_SEC);
    machine->tick_ns = last > first ? 1e9 / (double)(last - first) : 0;
    return learn_tail(machine);
}
