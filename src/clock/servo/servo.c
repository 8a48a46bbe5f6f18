/* SPDX-License-Identifier: MIT */
/* One turn of the loop, and how it begins: afresh, with the page of another servo, or mended. */
#include "servo.h"

#include <timebase/error.h>

#include "clock/page/publish.h"
#include "steps.h"

/* From sample to sample before there are lines. */
#define LEARNING_NS 1000000
/* The reference or the store failed: look again after this. */
#define FAILED_NS 100000000

/* There is no sample: publish the lines again, to be followed longer and with the new status. */
static void hold(struct servo *servo, const struct servo_outside *outside, uint32_t flags)
{
    servo->counts.reference_failures++;
    servo_hear_disruption(servo, outside->page);
    discipline_hear_distrust(&servo->discipline, flags);
    discipline_hold(&servo->discipline, servo_ticks(outside));
    if (servo->discipline.has_plan)
        servo_publish(servo, outside);
}

enum servo_result servo_step(struct servo *servo, const struct servo_outside *outside)
{
    struct discipline_sample sample = {0};
    servo->events = 0;
    if (servo_hold_ticks(servo, outside) > 0)
        return SERVO_TOO_EARLY;
    if (outside->sample(outside->context, &sample) != TIMEBASE_OK) {
        hold(servo, outside, sample.flags);
        return SERVO_NO_REFERENCE;
    }
    uint64_t gap_ns = (uint64_t)(sample.mono_ns - servo->sampled_ns);
    servo_observe(servo, outside, &sample);
    servo->sampled_ns = sample.mono_ns;
    if (!discipline_is_ready(&servo->discipline))
        return SERVO_LEARNING;
    /* The pace of a counter that the kernel distrusts is known only from sample to sample. */
    bool is_unsettled = servo->unpublished != 0 ||
        servo->discipline.sample.flags & TIMEBASE_LINE_COUNTER_DISTRUSTED;
    servo->interval_ns =
        cadence_next_ns(&outside->cadence, servo->interval_ns, gap_ns, is_unsettled);
    return servo_publish(servo, outside);
}

/* ns of ticks, rounded up; the period is known, for there are lines. */
static uint64_t ns_of(const struct servo *servo, uint64_t ticks)
{
    return (uint64_t)fixed_times(servo->discipline.plan.after.period, ticks).ns + 1;
}

uint64_t servo_wait_ns(const struct servo *servo, const struct servo_outside *outside,
                       enum servo_result result)
{
    switch (result) {
    case SERVO_PUBLISHED:
        return servo->interval_ns;
    case SERVO_TOO_EARLY:
        return ns_of(servo, servo_hold_ticks(servo, outside));
    case SERVO_LEARNING:
        return LEARNING_NS;
    default:
        return FAILED_NS;
    }
}

/* Lines are published a lead before they begin. If there is more to go, the counter has gone back,
 * perhaps to where it never was: a line ends at a jump, and the next begins beyond. */
static bool is_waited_for(const struct discipline *discipline, const struct servo_outside *outside)
{
    uint64_t lead = fixed_ticks(discipline->estimator.period, outside->cadence.lead_ns);
    return (int64_t)(discipline->plan.slew.start_ticks - servo_ticks(outside) - lead) > 0;
}

bool servo_adopt(struct servo *servo, const struct servo_outside *outside)
{
    struct discipline_sample sample = {0};
    struct discipline adopted = servo->discipline;
    struct timebase_lines lines;
    if (outside->sample(outside->context, &sample) != TIMEBASE_OK ||
        !publish_read_back(outside->page, &lines))
        return false;
    discipline_adopt(&adopted, &lines);
    if (!discipline_fits(&adopted, &sample) || is_waited_for(&adopted, outside))
        return false;
    servo->discipline = adopted;
    servo->is_adopted = true;
    return true;
}

void servo_mend(struct servo *servo, const struct timebase_page *page)
{
    struct timebase_lines lines;
    struct servo fresh = {.counts = servo->counts};
    *servo = fresh;
    if (publish_read_back(page, &lines))
        discipline_adopt(&servo->discipline, &lines);
}

void servo_reset(struct servo *servo)
{
    discipline_reset(&servo->discipline);
    servo->interval_ns = 0;
}

void servo_disrupt(struct servo *servo)
{
    servo->is_told_disrupted = true;
}
