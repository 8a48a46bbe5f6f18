/* SPDX-License-Identifier: MIT */
#include "delay_counted.h"

#include "timing/approach/hide.h"
#include "timing/learn/in_code.h"

#include "delay_at_once.h"

/*
 * Loads, as the reading behind them waits for these; side by side, so that it takes as long as the
 * farthest line.
 */
APPROACH_WAY static inline void load_lines(const struct waiter *waiter)
{
    const char *count = (const char *)(uintptr_t)waiter->ways.count;
#pragma GCC unroll 10
    for (unsigned line = 0; line < DELAY_LINES_OF_COUNT; line++)
        approach_load(count + line * APPROACH_LINE);
}

/* The loop has what is left; and some turns after other pauses, if it was not its chain that was held up. */
APPROACH_WAY static __attribute__((noinline)) int too_late(struct waiter *waiter, uint64_t delay_ns)
{
    if (waiter->counted.pause == COUNTED_TRIED) {
        waiter->counted.pause = COUNTED_FAR;
        delay_counted_is_far(waiter);
        caution_doubles(&waiter->far_code);
    }
    return delay_at_once(waiter, delay_ns, 0);
}

/* From a reading on, to the nearest one. */
APPROACH_WAY static inline double cycles_left(const struct waiter *waiter, uint64_t delay_ns,
                                              uint64_t now)
{
    const struct waiter_counted *counted = &waiter->counted;
    double gone_ticks = (double)(int64_t)(now - waiter->delay_called_ticks);
    double left_ns = (double)(int64_t)delay_ns - gone_ticks * waiter->learnt.period_ns;
    return left_ns * counted->rate.cycles_per_ns - counted->less_cycles + 0.5;
}

/*
 * Of two chains the first; 0: there is no time for both. A shorter one takes 2 ns more beside its cycles,
 * and would be taken for another clock.
 */
APPROACH_WAY static inline uint64_t first_of(const struct waiter *waiter, double cycles)
{
    enum { LEAST_CYCLES = 32, LAST_NS = 60 }; /* beside what it takes at least */
    const struct waiter_counted *counted = &waiter->counted;
    double first = cycles - LAST_NS * counted->rate.cycles_per_ns - counted->less_cycles;
    return first < LEAST_CYCLES ? 0 : (uint64_t)(int64_t)first;
}

/* Was its way in as short as it usually is? */
APPROACH_WAY static inline int is_quiet(struct waiter *waiter)
{
    double usual = (double)waiter->counted.way_in_ticks, limit = usual * in_code(0.25);
    double more = (double)waiter->delay_touched_ticks - usual;
    double little = no_farther(limit, more) * in_code(1.0 / 64);
    waiter->counted.way_in_ticks = (float)(usual + little);
    return more < limit;
}

/* By the first of two chains. What a cycle was before it is known already, as that takes a division. */
APPROACH_WAY static inline void follow_clock(struct waiter *waiter, uint64_t first, int64_t ticks,
                                             double ns_per_cycle)
{
    double period_ns = waiter->learnt.period_ns;
    double cycles = (double)(int64_t)first + waiter->counted.first_less_cycles;
    struct core_chain chain = {.cycles = cycles,
                               .expected_ns = cycles * ns_per_cycle,
                               .taken_ns = (double)ticks * period_ns,
                               .step_ns = waiter->counted.step_ns,
                               .is_quiet = is_quiet(waiter)};
    core_rate_follow(&waiter->counted.rate, &chain);
}

/* What is left at a reading of the counter. */
struct left {
    uint64_t now, link;
    double cycles;
    uint64_t first; /* of two chains; 0: there is no time for both */
};

APPROACH_WAY static inline struct left read_left(const struct waiter *waiter, uint64_t delay_ns)
{
    struct left left = {.now = timebase_arch_ticks_ordered()};
    left.link = approach_link(left.now);
    left.cycles = cycles_left(waiter, delay_ns, left.now);
    left.first = first_of(waiter, left.cycles);
    return left;
}

/*
 * A hold-up of some nanoseconds would be taken for another clock in a long chain. So of that a quarter
 * says how fast the core is, which is left even if that is a fifth slower than was believed.
 */
APPROACH_WAY static inline uint64_t unseen_of(const struct waiter *waiter, uint64_t first)
{
    enum { LONG = 800 };
    int64_t unseen = (int64_t)(first - first / 4) - (int64_t)waiter->counted.first_less_cycles;
    return first > LONG && unseen > 0 ? (uint64_t)unseen : 0;
}

/* One function for all: whatever is predicted wrongly behind its reading is so in each. */
APPROACH_WAY int delay_counted_rest(struct waiter *waiter, uint64_t delay_ns, double less_cycles)
{
    double ns_per_cycle = approach_found_here(1 / waiter->counted.rate.cycles_per_ns);
    load_lines(waiter);
    struct left left = read_left(waiter, delay_ns);
    waiter->delay_touched_ticks = (int64_t)(left.now - waiter->delay_called_ticks);
    waiter->counted.pause &= ~(unsigned)(COUNTED_TRIED * (left.cycles - less_cycles >= 1));
    uint64_t unseen = unseen_of(waiter, left.first);
    if (unseen > 0) {
        waiter->ways.count(unseen, left.link);
        left = read_left(waiter, delay_ns);
    }
    waiter->counted.saw_clock = left.first > 0;
    if (left.first > 0) {
        waiter->ways.count(left.first, left.link);
        uint64_t then = timebase_arch_ticks_ordered();
        left.link = approach_link(then);
        follow_clock(waiter, left.first, (int64_t)(then - left.now), ns_per_cycle);
        left.cycles = cycles_left(waiter, delay_ns, then);
    }
    left.cycles -= less_cycles;
    if (__builtin_expect(left.cycles < 1, 0))
        return too_late(waiter, delay_ns);
    return waiter->ways.count((uint64_t)(int64_t)left.cycles, left.link);
}

APPROACH_WAY static __attribute__((noinline)) int stamped(struct waiter *waiter, uint64_t delay_ns)
{
    struct counted_lesson *lesson = &waiter->counted_lesson;
    lesson->ns = (double)(int64_t)delay_ns;
    int late = delay_counted_rest(waiter, delay_ns, lesson->stamp_cycles);
    waiter->delay_taken_ticks = timebase_arch_ticks_ordered() - waiter->delay_called_ticks;
    lesson->taken_ticks = (int64_t)waiter->delay_taken_ticks;
    return late;
}

/*
 * What learns is needed by one in 64. Others' work may have driven it out since the last one; then
 * that one would be 0.1 us late.
 */
APPROACH_WAY static inline void fetch_lesson(const struct waiter *waiter)
{
    enum { STAMPED = 3, LEARNING = 12, CHOOSING = 4, LESSON = 2 };
    approach_fetch_lines((const char *)(uintptr_t)stamped, STAMPED);
    approach_fetch_lines((const char *)(uintptr_t)delay_counted_learn, LEARNING);
    approach_fetch_lines((const char *)(uintptr_t)choice_learn, CHOOSING);
    approach_fetch_code((const void *)(uintptr_t)choice_is_exact);
    for (int line = 0; line < LESSON; line++)
        approach_fetch((const char *)&waiter->counted_lesson + line * APPROACH_LINE);
}

APPROACH_WAY int delay_counted(struct waiter *waiter, uint64_t delay_ns)
{
    enum { BEFORE_STAMPED = 2 };
    struct waiter_counted *counted = &waiter->counted;
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    if (counted->only == 0)
        delay_counted_next_lesson(waiter);
    else if (--counted->only == 0)
        return stamped(waiter, delay_ns);
    else if (counted->only <= BEFORE_STAMPED)
        fetch_lesson(waiter);
    return delay_counted_rest(waiter, delay_ns, 0);
}

APPROACH_WAY int delay_counted_after_pause(struct waiter *waiter, uint64_t delay_ns)
{
    if (waiter->counted.pause == COUNTED_NEAR)
        caution_went_well(&waiter->far_code);
    waiter->counted.pause = COUNTED_TRIED;
    return delay_counted(waiter, delay_ns);
}
