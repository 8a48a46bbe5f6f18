/* SPDX-License-Identifier: MIT */
#include "delay_counted.h"

#include "timing/approach/hide.h"
#include "timing/learn/shares.h"
#include "timing/learn/within.h"

#include "delay_at_once.h"

/* ---- or by the loop? ---------------------------------------------------------------------- */

#define FADE (1.0 / 128)
#define DOUBT 0.75

/* Then so many are only counted next, unless they are worse. */
APPROACH_WAY static inline void choose(struct waiter *waiter, unsigned only)
{
    int is_better = choice_is_exact(&waiter->counted_lesson.choice, 0, DOUBT);
    waiter->counted.is_worse = !is_better;
    waiter->counted.only = is_better ? only : 0;
}

APPROACH_WAY void delay_left_to_loop(struct waiter *waiter)
{
    struct choice *choice = &waiter->counted_lesson.choice;
    delay_note_loop(waiter, choice);
    choice_fade(choice, FADE);
    choose(waiter, 0);
}

/* ---- what they teach ---------------------------------------------------------------------- */

/*
 * What was far off may be so again: then one is looked at sooner, and eight in a row that are off
 * on one side are believed at once, as the core has another clock. Fewer are what cold code makes
 * late.
 */
APPROACH_WAY static double believed_of_far(struct waiter *waiter, double wrong, double usually)
{
    enum { MANY = 8 };
    double more = in_a_row_far(&waiter->counted_lesson.far_ones, wrong, MANY);
    return more != 0 ? more : usually;
}

/*
 * What holds a core up makes a delay longer, and nothing makes one as much shorter: the mean of what is
 * wrong is later than its middle, and all others came too soon by that, 1 to 2 ns. So each
 * counts for no more than they are usually off.
 */
APPROACH_WAY static double believed(struct counted_lesson *lesson, double wrong_ns)
{
    enum { MEAN = 8 };
    const double most = DELAY_COUNTED_USUALLY_NS, usual = lesson->usual_ns;
    double size = within(0, wrong_ns < 0 ? -wrong_ns : wrong_ns, most);
    lesson->usual_ns += (size - usual) / MEAN;
    return within(-usual, wrong_ns, usual) / MEAN;
}

APPROACH_WAY void delay_counted_learn(struct waiter *waiter)
{
    enum { FAR_NS = 20, EQUAL_SHARES_NS = 400 };
    struct waiter_counted *known = &waiter->counted;
    struct counted_lesson *lesson = &waiter->counted_lesson;
    double taken_ns = ((double)known->taken_ticks + lesson->after_ticks) * waiter->learnt.period_ns;
    double wrong_ns = taken_ns - lesson->ns, less_per_ns = -known->cycles_per_ns;
    double more_ns = believed(lesson, wrong_ns);
    int is_far = (wrong_ns > FAR_NS) | (wrong_ns < -FAR_NS);
    if (is_far)
        more_ns = believed_of_far(waiter, wrong_ns, more_ns);
    else
        in_a_row_near(&lesson->far_ones);
    shares_follow(&known->less_cycles, &less_per_ns, more_ns * known->cycles_per_ns, lesson->ns,
                  EQUAL_SHARES_NS);
    known->cycles_per_ns = -less_per_ns;
    choice_learn(&lesson->choice, CHOICE_EXACT, wrong_ns / waiter->learnt.period_ns);
    int is_soon = is_far || lesson->early_lessons > 0;
    lesson->early_lessons -= lesson->early_lessons > 0;
    choose(waiter, is_soon ? DELAY_COUNTED_FAR : DELAY_COUNTED_ONLY);
}

/* Behind one with a stamp. If there is nothing to learn, as the loop has had its turns, the next one has it. */
APPROACH_WAY static __attribute__((noinline)) void next_lesson(struct waiter *waiter)
{
    if (waiter->counted_lesson.ns != 0 && !waiter->is_calibrating)
        delay_counted_learn(waiter);
    else
        choose(waiter, 1);
    waiter->counted_lesson.ns = 0;
}

/* ---- the delay ---------------------------------------------------------------------------- */

/* Of approach_count(), as it is assembled. */
enum { LINES_OF_COUNT = 10 };

/*
 * Loads, as the reading behind them waits for these; side by side, so that it takes as long as the
 * farthest line.
 */
APPROACH_WAY static inline void load_lines(const struct waiter *waiter)
{
    const char *count = (const char *)(uintptr_t)waiter->ways.count;
#pragma GCC unroll 10
    for (unsigned line = 0; line < LINES_OF_COUNT; line++)
        approach_load(count + line * APPROACH_LINE);
}

/* The loop has what is left; and some turns after other pauses, unless it was just held up. */
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
    return left_ns * counted->cycles_per_ns - counted->less_cycles + 0.5;
}

/* Of two chains the first; less than one: there is no time for both. */
APPROACH_WAY static inline double first_of(const struct waiter *waiter, double cycles)
{
    enum { LAST_NS = 60 }; /* beside what it takes at least */
    const struct waiter_counted *counted = &waiter->counted;
    return cycles - LAST_NS * counted->cycles_per_ns - counted->less_cycles;
}

/*
 * By `less_cycles` fewer than what is left. One function for all: whatever is predicted wrongly
 * behind its reading is so in each.
 */
APPROACH_WAY static __attribute__((noinline)) int count_rest(struct waiter *waiter,
                                                             uint64_t delay_ns,
                                                             double less_cycles)
{
    load_lines(waiter);
    uint64_t now = timebase_arch_ticks_ordered();
    uint64_t link = approach_link(now);
    waiter->delay_touched_ticks = (int64_t)(now - waiter->delay_called_ticks);
    double cycles = cycles_left(waiter, delay_ns, now) - less_cycles, first = first_of(waiter, cycles);
    if (first >= 1) {
        waiter->ways.count((uint64_t)(int64_t)first, link);
        now = timebase_arch_ticks_ordered();
        link = approach_link(now);
        cycles = cycles_left(waiter, delay_ns, now) - less_cycles;
    }
    if (__builtin_expect(cycles < 1, 0))
        return too_late(waiter, delay_ns);
    waiter->counted.pause &= ~(unsigned)COUNTED_TRIED;
    return waiter->ways.count((uint64_t)(int64_t)cycles, link);
}

APPROACH_WAY static __attribute__((noinline)) int stamped(struct waiter *waiter, uint64_t delay_ns)
{
    struct waiter_counted *counted = &waiter->counted;
    waiter->counted_lesson.ns = (double)(int64_t)delay_ns;
    int late = count_rest(waiter, delay_ns, counted->stamp_cycles);
    waiter->delay_taken_ticks = timebase_arch_ticks_ordered() - waiter->delay_called_ticks;
    counted->taken_ticks = (int64_t)waiter->delay_taken_ticks;
    return late;
}

/*
 * What learns is needed by one in 64. Others' work may have driven it out since the last one; then
 * that one would be 0.1 us late.
 */
APPROACH_WAY static inline void fetch_lesson(const struct waiter *waiter)
{
    enum { STAMPED = 3, LEARNING = 10, CHOOSING = 4, LESSON = 2 };
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
        next_lesson(waiter);
    else if (--counted->only == 0)
        return stamped(waiter, delay_ns);
    else if (counted->only <= BEFORE_STAMPED)
        fetch_lesson(waiter);
    return count_rest(waiter, delay_ns, 0);
}

APPROACH_WAY int delay_counted_after_pause(struct waiter *waiter, uint64_t delay_ns)
{
    enum { LINES = 4 };
    if (waiter->counted.pause == COUNTED_NEAR)
        caution_went_well(&waiter->far_code);
    waiter->counted.pause = COUNTED_TRIED;
    approach_fetch(&waiter->ways.count);
    approach_fetch_lines((const char *)(uintptr_t)count_rest, LINES);
    return delay_counted(waiter, delay_ns);
}
