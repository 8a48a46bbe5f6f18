/* SPDX-License-Identifier: MIT */
#include "rehearsal.h"

#include "timing/learn/within.h"
#include "timing/waiter/readings.h"
#include "timing/waiter/slower.h"

#include "event.h"
#include "result.h"

enum { MOST_TICKS = 8 }; /* of an error that is believed, besides a step where the counter is polled */

static inline __attribute__((always_inline)) uint32_t read_as(int64_t may_read)
{
    return (uint32_t)(__builtin_expect(may_read != 0, 1) ? timebase_arch_ticks_ordered()
                                                         : timebase_ticks_ordered());
}

void rehearsal_read(void *argument)
{
    const struct rehearsal_reading *asked = (const struct rehearsal_reading *)argument;
    *asked->out = read_as(asked->may_read);
}

/* What a rehearsal's event is. */
struct reading_event {
    void (*read)(void *argument);
    void *argument;
    struct rehearsal_reading one;
};

static void find_reading(const struct waiter *waiter, uint32_t *readings,
                         struct reading_event *event)
{
    event->one = (struct rehearsal_reading){waiter_may_read(waiter), readings};
    event->read = rehearsal_read;
    event->argument = &event->one;
    if (waiter_has_vernier(waiter)) {
        event->read = (void (*)(void *))(void *)waiter->ways.series[waiter->learnt.series];
        event->argument = readings;
    }
}

static void set_event(struct waiter *waiter, struct rehearsal_plan plan,
                      const struct reading_event *event)
{
    if (plan.way == EVENT_CALLED)
        event_set_call(&waiter->approach, event->read, event->argument);
    else
        event_set_return(waiter, plan.way);
    waiter->approach.never_early = 0;
    if (plan.never_early)
        event_set_never_early(waiter);
}

/* Runs the approach from where it can return as a wait does. */
static int return_within(void *context, uint64_t exact, uint64_t way, void *null, void *frame)
{
    struct waiter *waiter = (struct waiter *)context;
    (void)null;
    waiter->approach.frame = frame;
    int ends = waiter_approach(waiter, (int)exact);
    if (waiter->calibrated_end == END_UNPREDICTED)
        waiter->ways.forget_returns();
    if (ends != APPROACH_ENDS_BEHIND && way == EVENT_TELLS)
        result_tell(&waiter->approach);
    return ends;
}

/* Returns are read behind the approach. */
static void run_approach(struct waiter *waiter, struct rehearsal_plan plan,
                         const struct reading_event *event)
{
    if (plan.way == EVENT_CALLED) {
        waiter_approach(waiter, plan.exact);
        return;
    }
    int64_t may_read = event->one.may_read, is_once = event->read == rehearsal_read;
    approach_from(waiter, (uint64_t)plan.exact, plan.way, NULL, return_within);
    if (is_once) /* behind a fence at the end of what is told a load would count */
        *event->one.out = read_as(may_read);
    else
        event->read(event->argument);
}

/* From the marks on to the event there is nothing but the approach. */
static struct rehearsal run_between(struct waiter *waiter, struct rehearsal_plan plan,
                                    double before_ticks, double spare_ticks)
{
    struct timebase_fine_reading event;
    struct reading_event reading;
    struct rehearsal done;
    struct approach *a = &waiter->approach;
    find_reading(waiter, done.readings, &reading);
    evidence_begin(&waiter->evidence, a);
    set_event(waiter, plan, &reading);
    if (before_ticks > 0)
        waiter_aim(waiter, timebase_ticks() + (uint64_t)before_ticks, 0, plan.exact);
    if (plan.exact)
        waiter_aim_loop(waiter, a->target_ticks, 0, spare_ticks);
    run_approach(waiter, plan, &reading);
    done.is_even = plan.exact && waiter_polls_agreed(waiter);
    evidence_forget(a); /* a bare loop leaves it */
    uint32_t found = evidence_judge(&waiter->evidence, a, UINT32_MAX);
    waiter->found |= found;
    done.is_sound = found == 0;
    waiter_intersect_event(waiter, done.readings, a->target_ticks, &event);
    done.error_ticks = event.ticks;
    done.stamp_ticks = event.ticks - waiter_middle(waiter, a->event_ticks, a->target_ticks);
    done.ended_by_loop = plan.exact && waiter_ended_by_loop(waiter);
    return done;
}

struct rehearsal rehearsal_run(struct waiter *waiter)
{
    return run_between(waiter, (struct rehearsal_plan){1, EVENT_CALLED, 0}, 0, 0);
}

/* From the approach's beginning to its target at least. An exact one needs polls that teach. */
static double near_ticks(const struct waiter *waiter, int exact)
{
    enum { LEAST_NS = 50 };
    double least = LEAST_NS / waiter->learnt.period_ns;
    return 1 + least +
        (exact ? waiter_coarse_ticks(waiter) + waiter_polls_ticks(waiter)
               : waiter->learnt.plain_bias_ticks);
}

/* Will it end by the loop, if it is exact? */
static int is_by_loop(const struct waiter *waiter, int exact)
{
    int even = waiter->approach.even_polls >= waiter_even_needed(waiter);
    return !exact || (waiter_has_vernier(waiter) && !even);
}

/*
 * The targets vary over all phases of a step and all lengths of run; and those of the loop over so
 * many polls that nothing predicts its exit, as in a wait.
 */
struct rehearsal rehearsal_cold(struct waiter *waiter, struct rehearsal_plan plan)
{
    enum { VARIED_NS = 64, LOOP_VARIED_NS = 400 };
    uint32_t range = is_by_loop(waiter, plan.exact) ? LOOP_VARIED_NS : VARIED_NS;
    waiter->rehearsals++;
    double varied = waiter_throw_dice(waiter, range) / waiter->learnt.period_ns;
    return run_between(waiter, plan, near_ticks(waiter, plan.exact) + varied, varied);
}

struct rehearsal rehearsal_near(struct waiter *waiter, struct rehearsal_plan plan)
{
    struct rehearsal done = rehearsal_cold(waiter, plan);
    if (!done.is_sound)
        return done;
    waiter_learn_spacing(waiter, done.readings);
    if (plan.exact)
        waiter_learn_period(waiter);
    waiter_publish_tempo(waiter);
    return done;
}

/*
 * If `known` followed each error closely, it would add that error to the next one. What is believed of
 * one is limited, so that `known` finds their mean and not what disturbs some of them.
 */
static void follow(double *known, double error_ticks, double most_ticks, int mean)
{
    *known += within(-most_ticks, error_ticks, most_ticks) / mean;
}

/* The errors of polling are as wide as its period, and a step more where that is far. */
static void follow_loop(double *known, double error_ticks, const struct waiter *waiter)
{
    enum { MEAN = 32 };
    follow(known, error_ticks, waiter->vernier.step_ticks + MOST_TICKS, MEAN);
}

/*
 * Of an exact one, from a call's event to this return. In some programs half of all rehearsals, and no
 * waits, return to where the core has not expected it, 15 ticks later, for thousands of waits. By a fine
 * counter that was followed, and waits came up to 5 ns too soon; what a neighbour does is followed
 * elsewhere (slower.h).
 */
static void follow_exit(double *known, double error_ticks, const struct waiter *waiter)
{
    enum { MEAN = 16, FINE_TICKS = 2, FINE_MEAN = 64 };
    if (waiter_has_vernier(waiter))
        follow(known, error_ticks, MOST_TICKS, MEAN);
    else
        follow(known, error_ticks, FINE_TICKS, FINE_MEAN);
}

/* From the last poll to a call's event; a return's own says more of what comes behind its stamp. */
static double run_ticks(const struct waiter *waiter, struct rehearsal_plan plan,
                        const struct rehearsal *done)
{
    double event = done->error_ticks;
    if (plan.way == EVENT_CALLED)
        event -= waiter_slower_ticks(waiter, EVENT_CALLED);
    else
        event += waiter->learnt.stamp_ticks - done->stamp_ticks;
    return event - waiter_sample_ticks(waiter);
}

/* A call does; and by a fine counter a return, as beside a neighbour lessons are few. */
static int teaches_tempo(const struct waiter *waiter, struct rehearsal_plan plan)
{
    return plan.way == EVENT_CALLED || !waiter_has_vernier(waiter);
}

void rehearsal_learn(struct waiter *waiter, struct rehearsal_plan plan)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    struct rehearsal done = rehearsal_near(waiter, plan);
    int exact = plan.exact;
    double *leave = &learnt->exit_ticks[exact][plan.way];
    double error = done.error_ticks - waiter_exit_ticks(waiter, exact, plan.way);
    if (!done.is_sound)
        return;
    if (plan.never_early) { /* it says nothing of others, whose event comes later behind the last poll */
        double *rest = &learnt->never_early_rest_ticks[plan.way];
        follow_loop(rest, done.stamp_ticks - *rest, waiter);
        return;
    }
    waiter->rehearsed_ticks = waiter->approach.event_ticks;
    if (done.ended_by_loop) {
        follow_loop(&learnt->loop_bias_ticks[waiter_loop_way(waiter)], done.error_ticks, waiter);
        return;
    }
    choice_learn(&waiter->choice, exact ? CHOICE_EXACT : CHOICE_LOOP, error);
    if (exact && plan.way != EVENT_CALLED)
        follow_exit(leave, error, waiter);
    else if (!exact)
        follow_loop(plan.way != EVENT_CALLED ? leave : &learnt->plain_bias_ticks, error, waiter);
    if (exact && teaches_tempo(waiter, plan))
        waiter_learn_tempo(waiter, run_ticks(waiter, plan, &done), 0);
}
