/* SPDX-License-Identifier: MIT */
#include "delay_from_call.h"

#include "timing/approach/hide.h"
#include "timing/learn/in_code.h"
#include "timing/learn/shares.h"
#include "timing/learn/within.h"

#include "delay_at_once.h"

#define APART APPROACH_WAY __attribute__((noinline))

/*
 * Each ends here, whatever came before: what stands behind the chain is near, as it is next to its
 * call. To be read by the next one.
 */
APART static int count(struct waiter *waiter, uint64_t delay_ns, double cycles, uint64_t link)
{
    struct counted_lesson *lesson = &waiter->counted_lesson;
    lesson->ns = (double)(int64_t)delay_ns;
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    waiter->ways.count((uint64_t)(int64_t)most_of(cycles + in_code(0.5), 0), link);
    lesson->taken_ticks = (int64_t)(timebase_arch_ticks_ordered() - waiter->delay_called_ticks);
    return 0;
}

/*
 * Two readings are less than a step from where they were taken, each; and some ticks more are no
 * hold-up. What is one is made up for.
 */
APPROACH_WAY static inline double second_cycles(const struct waiter *waiter, double wrong_ticks)
{
    const double tolerated_ticks = in_code(8), cycles = in_code(DELAY_SECOND_CYCLES);
    int is_hold_up = wrong_ticks > waiter->vernier.step_ticks + tolerated_ticks;
    double gone_ns = wrong_ticks * waiter->learnt.period_ns;
    return cycles - is_hold_up * gone_ns * waiter->counted.rate.cycles_per_ns;
}

/* By two chains. By how much the first was held up is found while the roots before the second one last. */
APART static int count_twice(struct waiter *waiter, uint64_t delay_ns, double cycles, uint64_t link)
{
    struct counted_lesson *lesson = &waiter->counted_lesson;
    double first = cycles - lesson->two.last_cycles + in_code(0.5);
    double ns = (double)(int64_t)delay_ns, asked_ticks = ns * lesson->ticks_per_ns;
    lesson->ns = ns;
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    waiter->ways.count((uint64_t)(int64_t)most_of(first, 0), link);
    uint64_t then = timebase_arch_ticks_ordered();
    link = approach_link(then);
    lesson->two.taken_ticks = (int64_t)(then - waiter->delay_called_ticks);
    double wrong_ticks = (double)lesson->two.taken_ticks + lesson->two.last_ticks - asked_ticks;
    double second = most_of(second_cycles(waiter, wrong_ticks), 0);
    waiter->ways.count((uint64_t)(int64_t)second, link);
    lesson->taken_ticks = (int64_t)(timebase_arch_ticks_ordered() - waiter->delay_called_ticks);
    return 0;
}

/* ---- by code that is near ----------------------------------------------------------------- */

/*
 * What comes too late is late by ten times what the others gain. So where that is more than one
 * in six the loop has nearly all of those after pauses, and else hardly any: a turn in eight is
 * forgotten by one that went well.
 */
enum { LEAST_TURNS = 1, MOST_TURNS = 64, FORGETS = 8 };

APPROACH_WAY static inline void was_far(struct waiter *waiter)
{
    caution_went_wrong(&waiter->far_code, LEAST_TURNS, MOST_TURNS);
}

static inline double wrong_ticks(const struct counted_lesson *lesson)
{
    return (double)lesson->taken_ticks + lesson->after_ticks - lesson->ns * lesson->ticks_per_ns;
}

/* The first one after a pause teaches what cold code takes, and whether it was too far away. */
APART static void judge_code(struct waiter *waiter)
{
    enum { MEAN = 32 };
    const struct waiter_counted *counted = &waiter->counted;
    struct more_roots *roots = &waiter->counted_lesson.roots;
    double wrong_ns = wrong_ticks(&waiter->counted_lesson) * waiter->learnt.period_ns;
    roots->cold_cycles +=
        no_farther(counted->step_ns, wrong_ns) * counted->rate.cycles_per_ns / MEAN;
    if (wrong_ns > 2 * counted->step_ns)
        was_far(waiter);
    else
        caution_forgets(&waiter->far_code, FORGETS);
}

/*
 * Two readings make it wrong by less than a step, one way as often as the other: so that counts
 * as it is, or what is found would depend on how long the delay is in steps. What is off by more
 * was held up, which only makes it longer: it counts for half a step, or all others came too
 * soon. What is off by more than two is another clock of the core: so many in a row.
 */
APPROACH_WAY static inline double believed_ns(struct waiter *waiter, double wrong_ns)
{
    const double mean = in_code(1.0 / 64);
    double step_ns = waiter->counted.step_ns, far_ns = step_ns + step_ns;
    const double soon = in_code(1000); /* behind a step, for all that is beyond it */
    double beyond_ns = beyond(step_ns, wrong_ns);
    double other_half_ns = no_farther(step_ns * in_code(0.5), beyond_ns * soon);
    double little_ns = (wrong_ns - beyond_ns - other_half_ns) * mean;
    struct in_a_row *far_ones = &waiter->counted_lesson.far_ones;
    if (__builtin_expect((wrong_ns < far_ns) & (wrong_ns > 0 - far_ns), 1)) {
        in_a_row_near(far_ones);
        return little_ns;
    }
    double more_ns = in_a_row_far(far_ones, wrong_ns, IN_A_ROW_USUALLY);
    return more_ns != 0 ? more_ns : little_ns;
}

/* It is the core's clock that changes, more than what there is beside cycles. */
APPROACH_WAY static inline void follow(struct waiter_counted *known, double delay_ns, double more_ns)
{
    const double per_equal_ns = in_code(1.0 / 100);
    double less_per_ns = 0 - known->rate.cycles_per_ns, more = more_ns * known->rate.cycles_per_ns;
    shares_follow_about_as_far(&known->less_cycles, &less_per_ns, more, delay_ns, per_equal_ns);
    known->rate.cycles_per_ns = 0 - less_per_ns;
}

/* From the one before. To those who choose what two readings may be off is no error of it. */
APPROACH_WAY static inline void learn(struct waiter *waiter)
{
    struct waiter_counted *known = &waiter->counted;
    struct counted_lesson *lesson = &waiter->counted_lesson;
    double ticks = wrong_ticks(lesson), wrong_ns = ticks * waiter->learnt.period_ns;
    follow(known, lesson->ns, believed_ns(waiter, wrong_ns));
    double error_ticks = beyond(waiter->vernier.step_ticks, ticks);
    choice_learn(&lesson->choice, CHOICE_EXACT, error_ticks);
    delay_counted_choose(waiter);
}

/* ---- roots -------------------------------------------------------------------------------- */

/*
 * Has all code come before the roots have passed? Two readings are less than a step from where they
 * were taken, each.
 */
APPROACH_WAY static inline int is_in_time(const struct waiter *waiter, int eights)
{
    double roots_ticks = eights * waiter->counted_lesson.roots.each_ticks;
    double gone = (double)(int64_t)(timebase_arch_ticks() - waiter->delay_called_ticks);
    return gone + waiter->vernier.step_ticks < roots_ticks;
}

/* ---- which -------------------------------------------------------------------------------- */

/*
 * What the one before has to teach, if it was counted. By cold code there is no time to learn,
 * nor if hardly anything is counted; and that takes no less by fewer cycles, as nothing hides
 * where its chain begins: what it teaches would go on for ever.
 */
APPROACH_WAY static inline void settle_last(struct waiter *waiter, double delay_ns, int is_cold)
{
    struct counted_lesson *lesson = &waiter->counted_lesson;
    if (lesson->ns != 0 && waiter->counted.pause == COUNTED_TRIED)
        judge_code(waiter);
    else if (!is_cold && least_of(lesson->ns, delay_ns) > lesson->hardly_ns)
        learn(waiter);
    lesson->ns = 0;
}

/*
 * After a pause the loop has some turns where code was too far away lately, as it needs fewer
 * lines, and what is too short to look.
 */
APPROACH_WAY static inline int is_left_alone(struct waiter *waiter, int eights)
{
    waiter->delay_fetched = 0;
    return eights == 0 || caution_takes_turn(&waiter->far_code);
}

APPROACH_WAY int delay_count_from_call(struct waiter *waiter, uint64_t delay_ns,
                                       uint64_t begin_ticks, uint64_t link, double cycles,
                                       int eights)
{
    struct waiter_counted *counted = &waiter->counted;
    struct counted_lesson *lesson = &waiter->counted_lesson;
    int is_cold = delay_is_cold(waiter, begin_ticks);
    waiter->delay_called_ticks = begin_ticks;
    settle_last(waiter, (double)(int64_t)delay_ns, is_cold);
    if (__builtin_expect(is_cold, 0) && is_left_alone(waiter, eights))
        return delay_at_once(waiter, delay_ns, 0);
    approach_fetch_lines((const char *)(uintptr_t)waiter->ways.count, DELAY_LINES_OF_COUNT);
    if (!delay_is_counted(waiter))
        return delay_at_once(waiter, delay_ns, 0);
    if (is_cold && !is_in_time(waiter, eights)) {
        was_far(waiter);
        return delay_at_once(waiter, delay_ns, 0);
    }
    counted->pause = is_cold ? COUNTED_TRIED : COUNTED_NEAR;
    cycles -= is_cold ? lesson->roots.cold_cycles : 0;
    if (delay_ns >= lesson->two.from_ns)
        return count_twice(waiter, delay_ns, cycles, link);
    return count(waiter, delay_ns, cycles, link);
}
