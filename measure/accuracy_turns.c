/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "accuracy.h"
#include "accuracy_state.h"
#include "accuracy_trial.h"
#include "core.h"

#define METHODS_MOST 16
#define LONGEST_IDLE_NS UINT64_C(10000000000)

static int check(const struct timebase_bench_turns *turns)
{
    if (turns->instrument == NULL || turns->methods == NULL || turns->ahead_ticks == NULL ||
        turns->method_count == 0 || turns->method_count > METHODS_MOST ||
        turns->idle_ns > LONGEST_IDLE_NS)
        return TIMEBASE_E_INVALID;
    if (!timebase_bench_state_possible(turns->state))
        return TIMEBASE_E_UNSUPPORTED;
    int result = TIMEBASE_OK;
    for (uint32_t method = 0; method < turns->method_count && result == TIMEBASE_OK; method++)
        result = bench_trial_check(&turns->methods[method]);
    return result;
}

/* Another order each round, so that no method always follows the same neighbour. */
static void shuffle(uint32_t *order, uint32_t count, uint64_t *random)
{
    for (uint32_t left = count; left > 1; left--) {
        *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t other = (uint32_t)(*random >> 33) % left, moved = order[left - 1];
        order[left - 1] = order[other];
        order[other] = moved;
    }
}

/* Does not look after idle: the look would wake the core up, and the state would be gone. */
static void look_before(const struct timebase_bench_turns *turns, struct timebase_bench_block *out)
{
    struct timebase_bench_core core = {0, 0, 0};
    if (turns->state != TIMEBASE_BENCH_STATE_IDLE)
        timebase_bench_core_look(&core);
    out->cycle_ticks_before = core.cycle_ticks;
    out->add_ticks_before = core.add_ticks;
    out->add_most_ticks_before = core.add_most_ticks;
}

/* What was seen after a block tells whether the instrument is still right for the next. */
static int look_after(const struct timebase_bench_turns *turns, struct timebase_bench_block *out)
{
    struct timebase_bench_core core;
    timebase_bench_core_look(&core);
    out->cycle_ticks_after = core.cycle_ticks;
    out->add_ticks_after = core.add_ticks;
    out->add_most_ticks_after = core.add_most_ticks;
    return timebase_bench_instrument_follow(turns->instrument, &core);
}

static int run_block(const struct timebase_bench_turns *turns, uint32_t method, uint32_t number,
                     struct timebase_bench_hit *hits, struct timebase_bench_block *blocks)
{
    const uint32_t *ahead = turns->ahead_ticks + (size_t)number * turns->block_trials;
    size_t place = (size_t)method * turns->blocks + number;
    struct timebase_bench_hit *out = hits + place * turns->block_trials;
    int result = TIMEBASE_OK;
    bench_state_enter(turns->state, turns->idle_ns);
    look_before(turns, &blocks[place]);
    for (uint32_t trial = 0; trial < turns->block_trials && result == TIMEBASE_OK; trial++)
        result = bench_trial(&turns->methods[method], ahead[trial], &out[trial]);
    int followed = look_after(turns, &blocks[place]);
    return result < 0 ? result : followed;
}

int timebase_bench_take_turns(const struct timebase_bench_turns *turns,
                              struct timebase_bench_hit *hits, struct timebase_bench_block *blocks)
{
    if (turns == NULL || hits == NULL || blocks == NULL)
        return TIMEBASE_E_INVALID;
    int result = check(turns);
    if (result == TIMEBASE_OK)
        result = timebase_bench_instrument_follow(turns->instrument, NULL);
    uint32_t order[METHODS_MOST];
    uint64_t random = turns->seed;
    for (uint32_t method = 0; method < METHODS_MOST; method++)
        order[method] = method;
    for (uint32_t number = 0; number < turns->blocks && result == TIMEBASE_OK; number++) {
        shuffle(order, turns->method_count, &random);
        for (uint32_t turn = 0; turn < turns->method_count && result == TIMEBASE_OK; turn++)
            result = run_block(turns, order[turn], number, hits, blocks);
    }
    return result;
}
