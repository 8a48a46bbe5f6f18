/* SPDX-License-Identifier: MIT */
#include "rehearsal.h"

enum {
    MOST_TICKS = 8
}; /* of an error that is believed, besides a step where the counter is polled */

/* Event of a fine counter. Of a stepped one it is the vernier's readings themselves. */
static void read_once(void *readings)
{
    *(uint32_t *)readings = (uint32_t)timebase_ticks_ordered();
}

typedef void event_function(void *argument);

static void read_event(const struct waiter *waiter, struct approach *a)
{
    if (waiter->vernier.readings > 1)
        a->event = (event_function *)(void *)waiter->ways.sample[waiter->learnt.pad[WAY_EXACT]];
    else
        a->event = read_once;
}

/* The readings of the event, where it left them. */
static void intersect(const struct waiter *waiter, const uint32_t *readings,
                      struct timebase_fine_reading *event)
{
    uint32_t base = (uint32_t)waiter->approach.target_ticks;
    if (waiter->vernier.readings == 1)
        vernier_intersect(&waiter->vernier, readings, 1, base, event);
    else
        vernier_intersect(&waiter->vernier, readings + APPROACH_FINE - APPROACH_VERNIER,
                          APPROACH_VERNIER, base, event);
}

/* Runs the approach from where it can return as a wait does. */
static int leave_within(void *context, uint64_t way, uint64_t none, void *null, void *frame)
{
    struct waiter *waiter = (struct waiter *)context;
    struct approach *a = &waiter->approach;
    (void)none, (void)null;
    a->frame = frame;
    a->event = waiter->ways.leaves ? approach_leave : approach_event_none;
    a->argument = a;
    return waiter_approach(waiter, (enum waiter_way)way);
}

static void run_approach(struct waiter *waiter, struct rehearsal_plan plan, uint32_t *readings)
{
    struct approach *a = &waiter->approach;
    read_event(waiter, a);
    event_function *read = a->event;
    a->argument = readings;
    if (!plan.returns) {
        waiter_approach(waiter, plan.way);
        return;
    }
    approach_from(waiter, plan.way, 0, NULL, leave_within);
    read(readings);
}

/* From the marks on to the event there is nothing but the approach. */
static struct rehearsal run_between(struct waiter *waiter, struct rehearsal_plan plan,
                                    double before_ticks)
{
    struct timebase_fine_reading event;
    struct rehearsal done;
    struct approach *a = &waiter->approach;
    evidence_begin(&waiter->evidence, a);
    if (before_ticks > 0)
        waiter_aim(waiter, timebase_ticks() + (uint64_t)before_ticks, 0, plan.way);
    a->not_before_ticks = a->target_ticks - (UINT64_C(1) << 62);
    run_approach(waiter, plan, done.readings);
    evidence_forget(a); /* a bare loop leaves it */
    uint32_t found = evidence_judge(&waiter->evidence, a, UINT32_MAX);
    waiter->found |= found;
    done.is_sound = found == 0;
    intersect(waiter, done.readings, &event);
    done.error_ticks = event.ticks;
    done.stamp_ticks = event.ticks - waiter_middle(waiter, a->event_ticks, a->target_ticks);
    return done;
}

struct rehearsal rehearsal_run(struct waiter *waiter, enum waiter_way way)
{
    return run_between(waiter, (struct rehearsal_plan){way, 0}, 0);
}

struct rehearsal rehearsal_near(struct waiter *waiter, struct rehearsal_plan plan)
{
    /*
     * The targets vary over all phases of a step and all lengths of run, and over so many polls
     * that nothing predicts the exit of the plain loop, as in a wait.
     */
    enum { NEAREST_NS = 50, VARIED_NS = 32, PLAIN_VARIED_NS = 400 };
    double period_ns = waiter->learnt.period_ns;
    uint32_t range = plan.way == WAY_PLAIN ? PLAIN_VARIED_NS : VARIED_NS;
    waiter->rehearsals++;
    waiter->dice = waiter->dice * 1664525 + 1013904223;
    double varied = (double)((uint64_t)waiter->dice * range >> 32);
    double before = plan.way == WAY_PLAIN ? waiter->learnt.plain_bias_ticks
                                          : waiter_coarse_ticks(waiter, plan.way);
    return run_between(waiter, plan, 1 + before + (NEAREST_NS + varied) / period_ns);
}

/*
 * If `known` followed each error closely, it would add that error to the next one. The errors of
 * polling are as wide as its period. They are limited to a step more than others, so that `known`
 * finds their mean and not their most frequent value.
 */
static void follow(double *known, double error_ticks, const struct waiter *waiter, int exact)
{
    double most = exact ? MOST_TICKS : waiter->vernier.step_ticks + MOST_TICKS;
    double believed = error_ticks < -most ? -most : error_ticks > most ? most : error_ticks;
    *known += believed / 32;
}

/* Learns from both series of readings: the event's, and the sample's if that was long enough. */
static void learn_spacing(struct waiter *waiter, enum waiter_way way, const uint32_t *event)
{
    if (waiter->vernier.readings == 1)
        return;
    if (way == WAY_EXACT)
        waiter_learn_spacing(waiter, waiter_sample(waiter));
    waiter_learn_spacing(waiter, event);
    waiter_publish_tempo(waiter);
}

static void learn_cycle(struct waiter *waiter, double error_ticks)
{
    double ticks = error_ticks - waiter_first_ticks(waiter);
    tempo_learn(&waiter->tempo, ticks, waiter_cycles(waiter), 0);
    waiter_follow_entry(waiter);
    waiter_publish_tempo(waiter);
}

/*
 * The cycle's length is learnt from the longest sample alone. The errors of a shorter sample then
 * show how long that sample itself takes. So they mend a calibration that was held up in it.
 */
static void learn_exact(struct waiter *waiter, enum waiter_way way, double error_ticks)
{
    enum { SHARE = 16 };
    if (way == WAY_EXACT) {
        learn_cycle(waiter, error_ticks);
        return;
    }
    double believed = error_ticks < -MOST_TICKS ? -MOST_TICKS
        : error_ticks > MOST_TICKS              ? MOST_TICKS
                                                : error_ticks;
    waiter->learnt.tail_cycles[way] += believed / SHARE / waiter->tempo.cycle_ticks;
    waiter_follow_entry(waiter);
}

void rehearsal_learn(struct waiter *waiter, struct rehearsal_plan plan)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    struct rehearsal done = rehearsal_near(waiter, plan);
    int exact = plan.way != WAY_PLAIN;
    double *leave = &learnt->exit_ticks[exact][0];
    double error = done.error_ticks - (plan.returns ? *leave : 0);
    if (!done.is_sound)
        return;
    learn_spacing(waiter, plan.way, done.readings + APPROACH_FINE - APPROACH_VERNIER);
    waiter->rehearsed_ticks = waiter->approach.event_ticks;
    choice_learn(&waiter->choice, (enum choice_way)plan.way, error < 0 ? -error : error);
    if (plan.returns)
        follow(leave, error, waiter, exact);
    else if (exact)
        learn_exact(waiter, plan.way, error);
    else
        follow(&learnt->plain_bias_ticks, error, waiter, 0);
}
