/* SPDX-License-Identifier: MIT */
#include "shared_clock.h"

#include "clock/page/publish.h"

/* ---- what the servo stands on, from what this stands on ------------------------------------- */

static uint64_t ticks(void *context)
{
    const struct shared_clock *clock = context;
    return clock->outside.ticks(clock->outside.context);
}

static int sample(void *context, struct discipline_sample *out)
{
    const struct shared_clock *clock = context;
    return clock->outside.reference->sample(clock->outside.reference_context, out);
}

/* What a sample says of an announced leap second, before the sources have said how wrong it is. */
static struct leap_sample leap_seen(const struct discipline *discipline,
                                    const struct discipline_sample *out)
{
    return (struct leap_sample){
        .utc_ns = out->mono_ns + out->utc_offset_ns,
        .maxerror_ns = discipline->leap.maxerror_ns,
        .stepped_ns = out->utc_offset_ns - discipline->sample.utc_offset_ns,
        .flags = out->flags,
    };
}

/*
 * Has UTC's offset made the announced leap second since the newest sample, and no other step, as
 * far as the two samples know it? The second is in the bound as long as true UTC may not have made it.
 */
static bool has_leapt(const struct discipline *discipline, const struct discipline_sample *out)
{
    const struct discipline_sample *before = &discipline->sample;
    const int64_t within_ns = (int64_t)(before->reference_step_ns + out->reference_step_ns);
    const struct leap_sample seen = leap_seen(discipline, out);
    return !discipline->leap.has_stepped && leap_is_made(&discipline->leap, &seen, within_ns);
}

/*
 * May one clock have made an announced leap second, and another not yet? From a second before it is
 * due, by when it is in the bound of the lines that are followed, until it is in that of no new one.
 */
static bool is_leaping(const struct discipline *discipline, const struct discipline_sample *out)
{
    const struct leap_sample seen = leap_seen(discipline, out);
    struct leap leap = discipline->leap;
    if (leap.step_ns == 0)
        return false;
    leap_observe(&leap, &seen);
    return leap_error_ns(&leap, seen.utc_ns + LEAP_NS) != 0;
}

/*
 * Claims from before a step of the system clock, a sleep or a disruption are about another clock.
 * But the clock and UTC make a leap second both: what a claim says of the two still holds.
 */
static void void_claims(struct shared_clock *clock, const struct discipline_sample *out)
{
    struct sources *sources = clock->outside.sources;
    unsigned events = discipline_compare(&clock->servo.discipline, out);
    if (clock->is_disrupted || events & DISCIPLINE_SUSPENDED)
        sources_disrupted(sources, out->mono_ns);
    else if (clock->has_seen_one ||
             (events != 0 && !has_leapt(&clock->servo.discipline, out)))
        sources_forget(sources, out->mono_ns);
    clock->is_disrupted = false;
    clock->has_seen_one = false;
}

/* A source may have seen a disruption that counter and system clock do not show. */
static void hear_of_disruption(struct shared_clock *clock)
{
    const struct sources *sources = clock->outside.sources;
    if (sources == NULL)
        return;
    /* The lines of this step account for what was heard up to now. */
    publish_word(&clock->page.vmclock_marker, sources_marker(sources));
    if (sources->disruptions == clock->disruptions_told)
        return;
    clock->disruptions_told = sources->disruptions;
    clock->has_seen_one = true;
    servo_disrupt(&clock->servo);
}

/* The range that the sources agree on replaces the kernel's word about itself. */
static void apply_sources(struct shared_clock *clock, struct discipline_sample *out)
{
    if (clock->outside.sources == NULL)
        return;
    void_claims(clock, out);
    clock->outside.sources->is_leaping = is_leaping(&clock->servo.discipline, out);
    sources_apply(clock->outside.sources, out);
    hear_of_disruption(clock); /* they may have parted in this sample: its lines tell that */
}

static void amend(void *context, struct discipline_sample *out)
{
    struct shared_clock *clock = context;
    apply_sources(clock, out);
    if (clock->outside.amend != NULL)
        clock->outside.amend(clock->outside.context, out);
}

static int store(void *context, const struct timebase_page *page)
{
    const struct shared_clock *clock = context;
    return clock->outside.store(clock->outside.context, page);
}

static void store_counts(void *context, const struct timebase_page *page)
{
    const struct shared_clock *clock = context;
    clock->outside.store_counts(clock->outside.context, page);
}

static void record(void *context, const struct timebase_lines *lines, uint64_t published_ticks,
                   bool is_disrupted)
{
    const struct shared_clock *clock = context;
    clock->outside.record(clock->outside.context, lines, published_ticks, is_disrupted);
}

static struct servo_outside outside_of(struct shared_clock *clock)
{
    struct servo_outside outside = {
        .context = clock,
        .ticks = ticks,
        .sample = sample,
        .amend = amend,
        .store = store,
        .store_counts = store_counts,
        .record = record,
        .page = &clock->page,
        .cadence = cadence_shared(clock->interval_ns),
    };
    return outside;
}

/* ---- the clock ------------------------------------------------------------------------------ */

void shared_clock_set(struct shared_clock *clock, uint64_t interval_ns, uint32_t drift_ppb)
{
    clock->interval_ns = interval_ns;
    discipline_allow_drift(&clock->servo.discipline, (drift_ppb + 999) / 1000);
    if (clock->servo.interval_ns > interval_ns)
        clock->servo.interval_ns = interval_ns;
}

void shared_clock_start(struct shared_clock *clock, const struct shared_clock_outside *outside,
                        uint64_t interval_ns, uint32_t drift_ppb)
{
    static const struct shared_clock none;
    *clock = none;
    clock->outside = *outside;
    publish_begin(&clock->page, timebase_counter_id());
    shared_clock_set(clock, interval_ns, drift_ppb);
}

bool shared_clock_adopt(struct shared_clock *clock, const struct timebase_page *page)
{
    struct timebase_page own = clock->page;
    struct servo_outside outside = outside_of(clock);
    clock->page = *page;
    if (servo_adopt(&clock->servo, &outside))
        return true;
    clock->page = own;
    return false;
}

enum servo_result shared_clock_step(struct shared_clock *clock)
{
    struct servo_outside outside = outside_of(clock);
    hear_of_disruption(clock);
    enum servo_result result = servo_step(&clock->servo, &outside);
    /* The observation has shown a disruption after the claims went into the sample. They do no harm
     * in it, because its lines are UNRELIABLE; but they must not be used again. */
    if (clock->outside.sources != NULL && clock->servo.events & DISCIPLINE_DISRUPTED)
        sources_disrupted(clock->outside.sources, clock->servo.sampled_ns);
    return result;
}

void shared_clock_disrupt(struct shared_clock *clock)
{
    clock->is_disrupted = true;
    servo_disrupt(&clock->servo);
}

uint64_t shared_clock_wait_ns(struct shared_clock *clock, enum servo_result result)
{
    struct servo_outside outside = outside_of(clock);
    return servo_wait_ns(&clock->servo, &outside, result);
}

bool shared_clock_now(const struct shared_clock *clock, struct timebase_instant *instant)
{
    return timebase_page_convert(&clock->page, clock->outside.ticks(clock->outside.context),
                                 instant);
}
