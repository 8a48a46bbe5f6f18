/* SPDX-License-Identifier: MIT */
/*
 * The report's figures 3 to 6: by how much the loop passes its target, for targets that are one
 * tick further each time; with caches and without, by each way to read, at each place in memory.
 */
#include <timebase/counter.h>

#include "json.h"
#include "loops.h"
#include "machine.h"
#include "msr.h"
#include "trials.h"

enum { WARM_UP = 8 };

/* Long enough for the first reading to come before the target, without caches too. */
static uint64_t distance_ticks(bool cache_is_on)
{
    return cache_is_on ? 1000 : 50000;
}

static void run(loop_function *loop, bool cache_is_on, int count, struct trials *trials)
{
    uint64_t distance = distance_ticks(cache_is_on);
    trials->count = 0;
    for (int i = -WARM_UP; i < count; i++) {
        uint64_t target = timebase_ticks_ordered() + distance + (uint64_t)(i + WARM_UP);
        int64_t error = (int64_t)(loop(target) - target);
        if (i >= 0)
            trials_add(trials, error);
    }
}

/* An emulator may give a register that stands still (QEMU's TCG): a loop would never end. */
static bool msr_moves(void)
{
    uint64_t first, last;
    return msr_try_read(MSR_TSC, &first) && msr_try_read(MSR_TSC, &last) && last != first;
}

/* Is this way to read there? */
static bool can_read(const struct machine *machine, int which)
{
    return which == LOOP_RDTSCP ? machine->processor.has_rdtscp
        : which == LOOP_RDMSR   ? msr_moves()
                                : true;
}

static void print_series(const struct machine *machine, int which, unsigned offset,
                         bool cache_is_on, const struct trials *trials)
{
    bool is_shown = trials->count > 0 && (cache_is_on || !machine->is_emulated);
    json_begin("loop");
    json_text("reading", loops[which].name);
    json_number("offset_bytes", offset);
    json_text("cache", cache_is_on ? "on" : "off");
    json_bool("shown", is_shown);
    trials_print(trials);
    json_end();
}

static void run_placed(const struct loop_code *code, unsigned offset, bool cache_is_on, int count,
                       struct trials *trials)
{
    loop_function *loop = (loop_function *)loops_place(code, offset);
    if (!cache_is_on)
        caches_switch(false);
    run(loop, cache_is_on, count, trials);
    if (!cache_is_on)
        caches_switch(true);
}

/* Where that way to read is not there, a line without trials. */
static void series(const struct machine *machine, int which, unsigned offset, bool cache_is_on)
{
    static struct trials trials;
    trials.count = 0;
    if (can_read(machine, which))
        run_placed(&loops[which], offset, cache_is_on, TRIALS_MAX, &trials);
    print_series(machine, which, offset, cache_is_on, &trials);
    if (which == LOOP_RDTSC && offset == 0)
        trials_show("cache ", cache_is_on ? "on" : "off", &trials);
}

/* The smallest, the middle and the largest error for each place of the loop's first byte. */
static void alignments(const struct machine *machine, bool cache_is_on)
{
    static struct trials_summary all[PLACES];
    static struct trials trials;
    for (unsigned offset = 0; offset < PLACES; offset++) {
        run_placed(&loops[LOOP_RDTSC], offset, cache_is_on, PLACE_TRIALS, &trials);
        all[offset] = trials_summary(&trials);
    }
    json_begin("alignments");
    json_text("reading", loops[LOOP_RDTSC].name);
    trials_print_cache(cache_is_on, machine->is_emulated);
    trials_print_places(all);
    json_end();
}

void experiment_loop(struct machine *machine)
{
    enum { UNALIGNED = 29 };
    for (int cache_is_on = 1; cache_is_on >= 0; cache_is_on--) {
        for (int i = 0; i < LOOPS; i++)
            series(machine, i, 0, cache_is_on);
        series(machine, LOOP_RDTSC, UNALIGNED, cache_is_on);
        alignments(machine, cache_is_on);
    }
}
