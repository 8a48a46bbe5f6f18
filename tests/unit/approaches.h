/* SPDX-License-Identifier: MIT */
/* The approaches of this processor, each with what it needs to be called without a waiter. */
#ifndef TEST_APPROACHES_H
#define TEST_APPROACHES_H

#include <string.h>

#include <timebase/counter.h>
#include <timebase/wait.h>

#include "timing/wait/approach.h"

approach_function approach_return_single, approach_return_vernier;
approach_function approach_jump_single, approach_jump_vernier;

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
    {"jump, vernier", approach_jump_vernier, TIMEBASE_MECHANISM_JUMP},
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

/* Entry i of the table is a run of 8 to 247 instructions. */
static inline const uint8_t *rising_table(void)
{
    static uint8_t table[APPROACH_TABLE_ENTRIES];
    for (int i = 0; i < APPROACH_TABLE_ENTRIES && table[APPROACH_TABLE_ENTRIES - 1] == 0; i++)
        table[i] = (uint8_t)(8 + i * 240 / APPROACH_TABLE_ENTRIES);
    return table;
}

/* The polls end 300 ticks before the target. The clock is read last. */
static inline void prepare_approach(struct approach *a, int64_t ahead_ticks, void (*event)(void *),
                                    void *argument)
{
    static const uint32_t rseq[8] = {0, CPU, MARK_LOW, MARK_HIGH};
    memset(a, 0, sizeof(*a));
    a->step_256 = 26 * 256 - 1;
    a->table = rising_table();
    a->event = event;
    a->argument = argument;
    a->rseq = rseq;
    a->longer_quarters = 280;
    for (int k = 0; k < APPROACH_FINE; k++)
        a->offsets_256[k] = k * 40 * 256;
    a->target_ticks = timebase_ticks() + (uint64_t)ahead_ticks;
    a->leave_ticks = a->target_ticks - 300;
    a->not_before_ticks = a->target_ticks - (UINT64_C(1) << 62);
}

#endif
