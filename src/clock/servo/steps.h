/* SPDX-License-Identifier: MIT */
/* steps: what servo_step() calls, in this order. Not for others. */
#ifndef SERVO_STEPS_H
#define SERVO_STEPS_H

#include "servo.h"

/* Ticks until lines may be published again; 0: now. */
uint64_t servo_hold_ticks(const struct servo *servo, const struct servo_outside *outside);

/*
 * Deals with what servo_disrupt() has told since the last step: the counter's past is no guide. To
 * be called before the sample is observed, or the lines are held.
 */
void servo_hear_disruption(struct servo *servo, struct timebase_page *page);

/* Takes the sample, and what others have told meanwhile, into the discipline. Counts the events. */
void servo_observe(struct servo *servo, const struct servo_outside *outside,
                   struct discipline_sample *sample);

/* Plans the next lines ahead, publishes them, looks whether they were late, and commits them. */
enum servo_result servo_publish(struct servo *servo, const struct servo_outside *outside);

/* The counter, as the servo sees it. */
static inline uint64_t servo_ticks(const struct servo_outside *outside)
{
    return outside->ticks(outside->context);
}

/* Ticks of a time below 4 s; the pace is known. */
static inline uint64_t servo_ticks_of(const struct servo *servo, uint64_t ns)
{
    return fixed_ticks(servo->discipline.estimator.period, ns);
}

#endif
