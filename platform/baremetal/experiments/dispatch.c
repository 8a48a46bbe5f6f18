/* SPDX-License-Identifier: MIT */
/*
 * The report's figures 9 to 12: when the first instruction of the APIC timer's interrupt is
 * executed, for timers of 100 us and 15 us. Periodic, as in the report: each against the one before
 * it. One shot: against the count, from just before it was written. Deadline: against the deadline.
 */
#include <timebase/counter.h>

#include "apic.h"
#include "background.h"
#include "interrupts.h"
#include "json.h"
#include "machine.h"
#include "trials.h"

enum mode { PERIODIC, ONE_SHOT, DEADLINE, MODES };

static const char *const mode_names[MODES] = {"periodic", "one_shot", "deadline"};

struct dispatch {
    const struct machine *machine;
    enum mode mode;
    int interval_us;
    const struct background *background;
    bool cache_is_on;
};

static uint32_t apic_ticks(const struct dispatch *dispatch)
{
    double ticks = dispatch->interval_us * dispatch->machine->tsc_hz / 1e6;
    return (uint32_t)(ticks / dispatch->machine->ticks_per_apic_tick);
}

static double interval_ticks(const struct dispatch *dispatch)
{
    return apic_ticks(dispatch) * dispatch->machine->ticks_per_apic_tick;
}

static void await(const struct dispatch *dispatch, uint32_t count)
{
    dispatch->background->run(count);
}

/* The first two say where it begins, and fetch the code. */
static void run_periodic(const struct dispatch *dispatch, int count, struct trials *trials)
{
    double interval = interval_ticks(dispatch);
    uint32_t seen = timer_count;
    apic_arm_periodic(VECTOR_TIMER, apic_ticks(dispatch));
    await(dispatch, seen);
    for (int i = -1; i < count; i++) {
        uint32_t counted = timer_count;
        uint64_t before = timer_ticks;
        await(dispatch, counted);
        /* Where two came meanwhile, the distance is that of two. */
        double expected = interval * (double)(timer_count - counted);
        if (i >= 0)
            trials_add(trials, (int64_t)((double)(timer_ticks - before) - expected));
    }
    apic_disarm();
}

static uint64_t arm_once(const struct dispatch *dispatch)
{
    uint64_t interval = (uint64_t)interval_ticks(dispatch);
    if (dispatch->mode == ONE_SHOT)
        return apic_arm_one_shot(VECTOR_TIMER, apic_ticks(dispatch)) + interval;
    uint64_t deadline = timebase_ticks_ordered() + interval;
    apic_arm_deadline(VECTOR_TIMER, deadline);
    return deadline;
}

static void run_once_each(const struct dispatch *dispatch, int count, struct trials *trials)
{
    for (int i = -2; i < count; i++) {
        uint32_t seen = timer_count;
        uint64_t target = arm_once(dispatch);
        await(dispatch, seen);
        if (i >= 0)
            trials_add(trials, (int64_t)(timer_ticks - target));
    }
    apic_disarm();
}

static void print(const struct dispatch *dispatch, const struct trials *trials)
{
    json_begin("dispatch");
    json_text("mode", mode_names[dispatch->mode]);
    json_number("interval_us", dispatch->interval_us);
    json_text("background", dispatch->background->name);
    json_text("cache", dispatch->cache_is_on ? "on" : "off");
    json_bool("shown", !dispatch->machine->is_emulated);
    trials_print(trials);
    json_end();
}

/* One of each mode: a screen has 25 lines. */
static bool is_on_screen(const struct dispatch *dispatch)
{
    return dispatch->cache_is_on && dispatch->interval_us == 100 &&
        dispatch->background == &backgrounds[0];
}

static void run(const struct dispatch *dispatch)
{
    static struct trials trials;
    int count = machine_trials(dispatch->machine, TRIALS_MAX);
    trials.count = 0;
    interrupts_off();
    if (!dispatch->cache_is_on)
        caches_switch(false);
    if (dispatch->mode == PERIODIC)
        run_periodic(dispatch, count, &trials);
    else
        run_once_each(dispatch, count, &trials);
    if (!dispatch->cache_is_on)
        caches_switch(true);
    print(dispatch, &trials);
    if (is_on_screen(dispatch))
        trials_show(mode_names[dispatch->mode], ", every 100 us", &trials);
}

/* Without caches only the report's two backgrounds. */
static void run_all(const struct machine *machine, enum mode mode, int interval_us,
                    bool cache_is_on)
{
    for (int i = 0; i < (cache_is_on ? BACKGROUNDS : 2); i++) {
        struct dispatch dispatch = {machine, mode, interval_us, &backgrounds[i], cache_is_on};
        run(&dispatch);
    }
}

void experiment_dispatch(struct machine *machine)
{
    for (int cache_is_on = 1; cache_is_on >= 0; cache_is_on--)
        for (int mode = 0; mode < MODES; mode++) {
            if (mode == DEADLINE && !machine->processor.has_deadline)
                continue;
            run_all(machine, (enum mode)mode, 100, cache_is_on);
            run_all(machine, (enum mode)mode, 15, cache_is_on);
        }
}
