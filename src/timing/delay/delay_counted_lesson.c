/* SPDX-License-Identifier: MIT */
#include "delay_counted_lesson.h"

#include "timing/learn/shares.h"
#include "timing/learn/within.h"

/* ---- or by the loop? ---------------------------------------------------------------------- */

#define FADE (1.0 / 128)
#define DOUBT 0.75
#define DOUBT_OF_STEPS 1 /* a step counts as no error: that is doubt enough */

APPROACH_WAY void delay_counted_choose(struct waiter *waiter)
{
    double doubt = waiter->counted.roots_from_ns != 0 ? DOUBT_OF_STEPS : DOUBT;
    waiter->counted.is_worse = !choice_is_exact(&waiter->counted_lesson.choice, 0, doubt);
}

/* Then so many are only counted next, unless they are worse. */
APPROACH_WAY static inline void choose(struct waiter *waiter, unsigned only)
{
    delay_counted_choose(waiter);
    waiter->counted.only = waiter->counted.is_worse ? 0 : only;
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

/*
 * What it takes beside what it counts is what was wrong, if the core's clock was seen meanwhile. Of one
 * chain alone nobody can tell.
 */
APPROACH_WAY static void make_longer(struct waiter_counted *known, double delay_ns, double more_ns)
{
    enum { EQUAL_SHARES_NS = 400 };
    double less_per_ns = -known->rate.cycles_per_ns, more = more_ns * known->rate.cycles_per_ns;
    double ns = known->saw_clock ? 0 : delay_ns;
    shares_follow(&known->less_cycles, &less_per_ns, more, ns, EQUAL_SHARES_NS);
    known->rate.cycles_per_ns = -less_per_ns;
}

APPROACH_WAY void delay_counted_learn(struct waiter *waiter)
{
    enum { FAR_NS = 20 };
    struct waiter_counted *known = &waiter->counted;
    struct counted_lesson *lesson = &waiter->counted_lesson;
    double taken_ns = ((double)lesson->taken_ticks + lesson->after_ticks) * waiter->learnt.period_ns;
    double wrong_ns = taken_ns - lesson->ns;
    double more_ns = believed(lesson, wrong_ns);
    int is_far = (wrong_ns > FAR_NS) | (wrong_ns < -FAR_NS);
    if (is_far)
        more_ns = believed_of_far(waiter, wrong_ns, more_ns);
    else
        in_a_row_near(&lesson->far_ones);
    make_longer(known, lesson->ns, more_ns);
    choice_learn(&lesson->choice, CHOICE_EXACT, wrong_ns / waiter->learnt.period_ns);
    int is_soon = is_far || lesson->early_lessons > 0;
    lesson->early_lessons -= lesson->early_lessons > 0;
    choose(waiter, is_soon ? DELAY_COUNTED_FAR : DELAY_COUNTED_ONLY);
}

APPROACH_WAY void delay_counted_next_lesson(struct waiter *waiter)
{
    if (waiter->counted_lesson.ns != 0 && !waiter->is_calibrating)
        delay_counted_learn(waiter);
    else
        choose(waiter, 1);
    waiter->counted_lesson.ns = 0;
}
