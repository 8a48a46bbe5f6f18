/* SPDX-License-Identifier: MIT */
/* The approaches of this processor, each with what it needs to be called without a waiter. */
#ifndef TEST_APPROACHES_H
#define TEST_APPROACHES_H

#include <string.h>

#include <timebase/counter.h>
#include <timebase/wait.h>

#include "timing/approach/approach.h"

approach_function approach_return, approach_jump;

struct named_approach {
    const char *name;
    approach_function *approach;
    int mechanism;
};

static const struct named_approach all_approaches[] = {
#if defined(__x86_64__) || defined(__aarch64__) || defined(__powerpc__) || defined(__riscv)
    {"return", approach_return, TIMEBASE_MECHANISM_RETURN},
#endif
#if defined(__x86_64__) || defined(__aarch64__) || defined(__s390x__)
    {"jump", approach_jump, TIMEBASE_MECHANISM_JUMP},
#endif
    {"poll", approach_poll, TIMEBASE_MECHANISM_LOOP},
};
enum { ALL_APPROACHES = sizeof(all_approaches) / sizeof(all_approaches[0]) };

/* Polling works everywhere; a return only where no guarded stack is in force. */
static inline int may_use(const struct named_approach *named)
{
    int best = timebase_counter_id() == TIMEBASE_COUNTER_OS ? TIMEBASE_MECHANISM_LOOP
                                                            : approach_ways().mechanism;
    return named->mechanism <= best;
}

/* The first for NULL; NULL after the last. */
static inline const struct named_approach *next_approach(const struct named_approach *before)
{
    const struct named_approach *named = before == NULL ? all_approaches : before + 1;
    while (named < all_approaches + ALL_APPROACHES && !may_use(named))
        named++;
    return named < all_approaches + ALL_APPROACHES ? named : NULL;
}

/* As if this were the thread's struct rseq: a CPU and a mark. */
enum { CPU = 77, MARK_LOW = 0x1111, MARK_HIGH = 0x2222 };
#define MARK (evidence_rseq_marker((const uint32_t[]){0, CPU, MARK_LOW, MARK_HIGH}))

/* Cycles of half a tick, 200 of which are fixed; if 150 more are left there is another poll. */
enum { CYCLES_PER_TICK = 2, FIXED_CYCLES = 200, ANOTHER_CYCLES = 150, SPAN_TICKS = 25 };

/* Each reading stands for itself. The clock is read last. */
static inline void prepare_approach(struct approach *a, int64_t ahead_ticks, void (*event)(void *),
                                    void *argument)
{
    static uint32_t rseq[8];
    rseq[1] = CPU;
    rseq[2] = MARK_LOW;
    rseq[3] = MARK_HIGH;
    memset(a, 0, sizeof(*a));
    a->cycles_per_tick = CYCLES_PER_TICK << (APPROACH_CYCLE_BITS - APPROACH_TICK_BITS);
    a->fixed_cycles = (int64_t)FIXED_CYCLES << APPROACH_CYCLE_BITS;
    a->earliest_ticks = -((int64_t)APPROACH_FARTHEST << APPROACH_TICK_BITS);
    a->latest_ticks = (int64_t)APPROACH_FARTHEST << APPROACH_TICK_BITS;
    a->span_ticks = SPAN_TICKS << APPROACH_TICK_BITS;
    a->another_cycles = ANOTHER_CYCLES;
    a->late_cycles = 60;
    a->even_least = INT32_MIN;
    a->event = event;
    a->argument = argument;
    a->rseq = rseq;
    a->target_ticks = timebase_ticks() + (uint64_t)ahead_ticks;
    a->leave_ticks = a->target_ticks - 300;
}

#endif
