/* SPDX-License-Identifier: MIT */
/*
 * tracked: a waiter in virtual time, on a counter of any step, with a core whose latency is known.
 */
#ifndef TEST_TRACKED_H
#define TEST_TRACKED_H

#include <math.h>
#include <string.h>

#include "stepped.h"
#include "timing/wait/table.h"
#include "timing/wait/track.h"
#include "timing/wait/waiter.h"

#define SHORTEST 400.0  /* ticks, what the waiter believes at first */
#define INSTRUCTION 0.5 /* ticks */
#define STAMP 31.0      /* stamp to event, ticks */
#define TURN 70.0       /* what more time than the table covers is filled with, ticks a turn */

struct world {
    struct waiter waiter;
    struct stepped counter;
    double shortest; /* of the core, in truth */
    double turn;
};

static inline struct world *new_world(uint64_t step)
{
    static struct world world;
    double latencies[TABLE_RUNS];
    struct waiter *waiter = &world.waiter;
    memset(&world, 0, sizeof(world));
    world.counter = (struct stepped){step, 5 % step};
    world.shortest = SHORTEST;
    world.turn = TURN;
    waiter->vernier.step_ticks = (double)step;
    waiter->vernier.half_step_ticks = (double)(step - 1) / 2;
    waiter->vernier.readings = 1;
    waiter->learnt.instruction_ticks = INSTRUCTION;
    waiter->learnt.shortest_ticks = SHORTEST;
    waiter->learnt.stamp_ticks[0] = waiter->learnt.stamp_ticks[1] = STAMP;
    waiter->learnt.coarse_ticks = SHORTEST + 60;
    waiter->learnt.coarse_most_ticks = SHORTEST + 120;
    waiter->learnt.exact = 1;
    waiter->approach.table = waiter->table;
    waiter->approach.longer_quarters = (int32_t)(4 * TURN);
    waiter->learnt.longer_quarters = 4 * TURN;
    for (int i = 0; i < TABLE_RUNS; i++)
        latencies[i] = SHORTEST + i * TABLE_RUN_STEP * INSTRUCTION;
    assert_int_equal(table_build(waiter->table, latencies), 0);
    return &world;
}

/* The clean sample finds the first reading within a hundredth of a tick, and the table its run. */
static inline int sample_and_look_up(struct world *world, double first)
{
    struct approach *a = &world->waiter.approach;
    int turns = 0;
    a->middle_256 =
        (int32_t)floor((first - 0.5 - world->waiter.vernier.half_step_ticks) * 256 + 0.5);
    a->allowed_256 = 256;
    int entry = (-a->middle_256 - a->base_256) >> 6;
    for (; entry >= APPROACH_TABLE_ENTRIES; turns++)
        entry -= a->longer_quarters;
    a->run = world->waiter.table[entry < 0 ? 0 : entry];
    return turns;
}

/*
 * The instant of the event: the first reading was `before` ticks before the target, and from there
 * on it is the core that tells the time.
 */
static inline double wait_in(struct world *world, uint64_t target, double before)
{
    struct approach *a = &world->waiter.approach;
    waiter_aim(&world->waiter, target, 0, 1);
    int turns = sample_and_look_up(world, -before);
    double more = (double)a->run - TABLE_SHORTEST_RUN;
    double event = world->shortest - before + turns * world->turn + more * INSTRUCTION;
    a->event_ticks = stepped_read(&world->counter, (double)target + event - STAMP);
    world->waiter.can_track = 1;
    return event;
}

#endif
