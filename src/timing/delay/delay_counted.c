/* SPDX-License-Identifier: MIT */
#include "delay_counted.h"

#include "timing/learn/shares.h"
#include "timing/learn/within.h"

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

/* What stands behind the chain is fetched meanwhile. */
APPROACH_WAY static __attribute__((noinline)) int stamped(struct waiter *waiter, double ns,
                                                          uint64_t link)
{
    struct waiter_counted *counted = &waiter->counted;
    waiter->counted_lesson.ns = ns;
    double cycles = delay_cycles_of_counted(waiter, ns) - counted->stamp_cycles;
    int late = delay_count(waiter, cycles, link);
    waiter->delay_taken_ticks = timebase_arch_ticks_ordered() - waiter->delay_called_ticks;
    counted->taken_ticks = (int64_t)waiter->delay_taken_ticks;
    return late;
}

APPROACH_WAY static inline void fetch_stamped(const struct waiter *waiter)
{
    enum { STAMPED = 4, LEARNING = 16, CHOOSING = 4, LESSON = 2 };
    approach_fetch_lines((const char *)(uintptr_t)stamped, STAMPED);
    approach_fetch_lines((const char *)(uintptr_t)delay_counted, LEARNING);
    approach_fetch_lines((const char *)(uintptr_t)choice_learn, CHOOSING);
    approach_fetch_code((const void *)(uintptr_t)choice_is_exact);
    for (int line = 0; line < LESSON; line++)
        approach_fetch((const char *)&waiter->counted_lesson + line * APPROACH_LINE);
}

/*
 * A function of its own: as a branch of its caller, the call of the stamped one lay on a line that nothing
 * else executes or asks for, or did not, as the linker placed it.
 */
APPROACH_WAY int delay_soon_stamped(struct waiter *waiter, double ns, uint64_t link, unsigned left)
{
    if (left == 0)
        return stamped(waiter, ns, link);
    fetch_stamped(waiter);
    return delay_count(waiter, delay_cycles_of_counted(waiter, ns), link);
}

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

APPROACH_WAY static void learn(struct waiter *waiter)
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

/*
 * As many roots again hide that; it teaches nothing itself. If there is nothing to learn, as the
 * loop has had its turns, the next one has a stamp.
 */
APPROACH_WAY int delay_counted(struct waiter *waiter, uint64_t delay_ns, uint64_t first_link)
{
    uint64_t link = approach_link(first_link);
    double ns = (double)(int64_t)delay_ns;
    waiter->delay_error_ticks = DELAY_ERROR_UNKNOWN;
    if (waiter->counted_lesson.ns != 0 && !waiter->is_calibrating)
        learn(waiter);
    else
        choose(waiter, 1);
    if (waiter->counted.only == 1)
        fetch_stamped(waiter);
    waiter->counted_lesson.ns = 0;
    double cycles = delay_cycles_of_counted(waiter, ns) - waiter->counted_lesson.learn_cycles;
    return delay_count(waiter, cycles, link);
}
