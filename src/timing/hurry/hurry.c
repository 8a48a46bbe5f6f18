/* SPDX-License-Identifier: MIT */
#include "hurry.h"

#include <stddef.h>

enum {
    PAUSE_NS = 1000000,
    STEPPED_PAUSE_NS = 4000000,
    MOST_COLD_NS = 1000000,
    FIRST_COLD_NS = 20000,
    NO_REHEARSAL_NS = 900,
    FIRST_LEARNING_NS = 500
};

static void know(struct waiter *waiter, int64_t cold_ticks)
{
    waiter->learnt.cold_ticks = cold_ticks;
    waiter->learnt.near_ticks = waiter_ends_behind(waiter) ? cold_ticks : 0;
}

/*
 * Those by code that has gone cold are few, and differ more: they are followed in longer steps. And
 * fewer of them may be late, as what is late often leaves all of its kind to the loop (outcome.c).
 */
void hurry_set_need(const struct waiter *waiter, struct waiter_need *need, double first_ns,
                    double step_ns, int of)
{
    enum { TURNS = 16 };
    double period_ns = waiter->learnt.period_ns;
    *need = (struct waiter_need){.ticks = first_ns / period_ns,
                                 .step_ticks = step_ns / period_ns,
                                 .fade_ticks = step_ns / TURNS / period_ns,
                                 .of = of};
}

void hurry_init(struct waiter *waiter)
{
    int64_t pause_ns = waiter_has_vernier(waiter) ? STEPPED_PAUSE_NS : PAUSE_NS;
    waiter->learnt.pause_ticks = waiter_ticks_of_ns(waiter, pause_ns);
    waiter->learnt.cold_near_ticks = waiter_ticks_of_ns(waiter, WAITER_COLD_NS);
    waiter->learnt.no_rehearsal_ticks = waiter_ticks_of_ns(waiter, NO_REHEARSAL_NS);
    waiter->hurried_ticks = waiter_long_before(timebase_ticks());
    hurry_set_need(waiter, &waiter->learnt.near_needs[0], 0, 1, 50);
    hurry_set_need(waiter, &waiter->learnt.near_needs[1], 600, 5, 100);
    hurry_set_need(waiter, &waiter->learnt.learning_need, FIRST_LEARNING_NS, 1, 50);
    hurry_set_need(waiter, &waiter->learnt.lead_need, NO_REHEARSAL_NS, 1, 100);
    know(waiter, waiter_ticks_of_ns(waiter, FIRST_COLD_NS));
}

/*
 * A wait after a pause takes the stages only if there is time for the way in, for the rehearsals
 * that fetch their own code, and after these for some that teach. In a calibration nothing is known
 * yet, least of all how long a pause is: what followed would read the counter as if it had to ask.
 */
void hurry_learn(struct waiter *waiter, int64_t begin_ticks)
{
    int64_t known = waiter->learnt.cold_ticks, most = waiter_ticks_of_ns(waiter, MOST_COLD_NS);
    int64_t prepare_ticks = waiter_ticks_of_ns(waiter, WAITER_PREPARE_NS);
    int64_t took = begin_ticks + waiter->first_ones_ticks + prepare_ticks;
    if (waiter->first_ones_ticks == 0 || waiter->is_calibrating)
        return;
    took = took < most ? took : most;
    know(waiter, took > known ? took : known + (took - known) / 8);
}
