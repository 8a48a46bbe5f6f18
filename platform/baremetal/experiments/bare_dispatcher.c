/* SPDX-License-Identifier: MIT */
/*
 * Beside src/timing/calendar/real_machine.c and timeout.c, which have signals. A unit with a
 * time-out runs with the alarm set. The alarm's interrupt makes the unit's code go on at landed(),
 * which jumps out of the unit: the stack is that of before it.
 */
#include "bare_dispatcher.h"

#include <stddef.h>

#include "alarm.h"
#include "interrupts.h"
#include "processor.h"
#include "timing/calendar/dispatch.h"

#define LEAD_NS 1000000

struct bare_dispatcher {
    const struct machine *machine;
    struct timebase_waiter *waiter;
};

/* What runs now, and where its time-out lands. */
static struct {
    void *landing[5]; /* as __builtin_setjmp() wants it */
    const struct timebase_unit *unit;
    uint64_t end_ticks;
    volatile bool is_running, is_stopped;
} running;

static int64_t now(void *context)
{
    const struct bare_dispatcher *dispatcher = context;
    return timebase_mono_ns(dispatcher->machine->clock);
}

static void rest(void *context, int64_t until_ns, uint32_t flags)
{
    const struct bare_dispatcher *dispatcher = context;
    const timebase_clock *clock = dispatcher->machine->clock;
    if (flags & TIMEBASE_WAIT_SLEEP)
        alarm_halt_until(timebase_ticks_at_mono(clock, until_ns));
    else
        while (timebase_mono_ns_unordered(clock) < until_ns)
            timebase_arch_relax();
}

/* Entered as by a jump: there is no return address, and the stack is aligned only by chance. */
static void landed(void)
{
    __builtin_longjmp(running.landing, 1);
}

/* On the interrupts' stack. The unit was interrupted anywhere; nothing of it is needed again. */
static void on_timeout(struct interrupt_frame *frame)
{
    if (!running.is_running)
        return;
    running.is_running = false;
    running.is_stopped = true;
    frame->ip = (uintptr_t)landed;
}

static void call_unit(void *argument)
{
    (void)argument;
    if (__builtin_setjmp(running.landing) == 0) {
        running.is_running = true;
        interrupts_on();
        running.unit->action(running.unit->argument);
        interrupts_off();
    }
    running.is_running = false;
    running.end_ticks = timebase_ticks_ordered();
}

static void arm(const struct bare_dispatcher *dispatcher, int64_t target_ns)
{
    const timebase_clock *clock = dispatcher->machine->clock;
    int64_t now_ns = timebase_mono_ns(clock), from_ns = target_ns > now_ns ? target_ns : now_ns;
    int64_t until_ns = from_ns + running.unit->timeout_ns;
    alarm_set(VECTOR_TIMEOUT, timebase_ticks_at_mono(clock, until_ns));
}

/* Interrupts are off outside of the unit: an alarm that is due earlier comes with its first
 * instruction. */
static int call(void *context, const struct timebase_unit *unit, int64_t target_ns,
                struct dispatch_outcome *outcome)
{
    const struct bare_dispatcher *dispatcher = context;
    struct timebase_wait_result result;
    uint32_t flags = unit->flags;
    running.unit = unit;
    running.is_stopped = false;
    interrupts_off();
    if (unit->timeout_ns > 0) {
        flags &= ~(uint32_t)TIMEBASE_WAIT_SLEEP; /* the alarm is in use */
        arm(dispatcher, target_ns);
    }
    int error =
        timebase_wait_call_mono(dispatcher->waiter, target_ns, flags, call_unit, NULL, &result);
    if (unit->timeout_ns > 0)
        alarm_clear();
    if (error < 0)
        return error;
    int64_t ran_ticks = (int64_t)(running.end_ticks - result.event_ticks);
    outcome->error_ns = result.error_ns;
    outcome->ran_ns = (int64_t)((double)ran_ticks * 1e9 / dispatcher->machine->tsc_hz);
    outcome->disturbance = result.disturbance;
    outcome->is_late = result.late;
    outcome->is_timed_out = running.is_stopped;
    return TIMEBASE_OK;
}

static const struct dispatch_machine operations = {now, rest, call};

int bare_dispatcher_run(const struct admission *admission, const struct machine *machine,
                        struct timebase_waiter *waiter, struct timebase_unit_result *results)
{
    struct bare_dispatcher dispatcher = {machine, waiter};
    int64_t now_ns = timebase_mono_ns(machine->clock);
    struct dispatch dispatch = {
        .calendar = admission->calendar,
        .patterns = admission->patterns,
        .start_ns = placement_start(&admission->placement, admission->calendar, now_ns + LEAD_NS),
        .machine = &operations,
        .context = &dispatcher,
        .results = results,
    };
    interrupts_on_timeout(on_timeout);
    int error = dispatch_run(&dispatch);
    interrupts_on_timeout(NULL);
    return error;
}
