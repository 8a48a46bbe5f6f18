/* SPDX-License-Identifier: MIT */
/* The approaches of this processor, each with what it needs to be called without a waiter. */
#ifndef TEST_APPROACHES_H
#define TEST_APPROACHES_H

#include <string.h>

#include <timebase/counter.h>
#include <timebase/wait.h>

#include "timing/wait/approach.h"

approach_function approach_return_single, approach_return_vernier, approach_return_brief;
approach_function approach_jump_single, approach_jump_vernier, approach_jump_brief;

struct named_approach {
    const char *name;
    approach_function *approach;
    int mechanism;
};

static const struct named_approach all_approaches[] = {
#if defined(__x86_64__) || defined(__aarch64__) || defined(__powerpc__) || defined(__riscv)
    {"return, one reading", approach_return_single, TIMEBASE_MECHANISM_RETURN},
#endif
#if defined(__x86_64__) || defined(__aarch64__) || defined(__s390x__)
    {"jump, one reading", approach_jump_single, TIMEBASE_MECHANISM_JUMP},
#endif
#if defined(__x86_64__)
    {"return, vernier", approach_return_vernier, TIMEBASE_MECHANISM_RETURN},
    {"return, brief", approach_return_brief, TIMEBASE_MECHANISM_RETURN},
    {"jump, vernier", approach_jump_vernier, TIMEBASE_MECHANISM_JUMP},
    {"jump, brief", approach_jump_brief, TIMEBASE_MECHANISM_JUMP},
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

static inline int is_brief(const struct named_approach *named)
{
    return strstr(named->name, "brief") != NULL;
}

/*
 * The polls end 300 ticks before the target, a run is of half-tick cycles, and takes 200 of them
 * less. The readings are those of the approach; the clock is read last.
 */
static inline void prepare_approach(struct approach *a, const struct named_approach *named,
                                    int64_t ahead_ticks, void (*event)(void *), void *argument)
{
    static uint32_t rseq[8];
    struct approach_ways ways = approach_ways();
    rseq[1] = CPU;
    rseq[2] = MARK_LOW;
    rseq[3] = MARK_HIGH;
    memset(a, 0, sizeof(*a));
    a->step_ticks = 26;
    a->slack_ticks = 2;
    a->cycles_per_tick = 2;
    a->fixed_cycles = 200;
    a->late_cycles = 60;
    a->sample = is_brief(named) ? ways.few[0] : ways.sample[0];
    a->event = event;
    a->argument = argument;
    a->rseq = rseq;
    for (int k = 0; k < APPROACH_VERNIER; k++)
        a->offsets[k] = (float)(k * 40);
    for (int k = 0; k < APPROACH_BRIEF; k++)
        a->brief_offsets[k] = (float)(k * 40);
    a->target_ticks = timebase_ticks() + (uint64_t)ahead_ticks;
    a->leave_ticks = a->target_ticks - 300;
    a->not_before_ticks = a->target_ticks - (UINT64_C(1) << 62);
}

#endif
