/* SPDX-License-Identifier: MIT */
/* What they agree on goes into a sample. */
#include <timebase/page.h>

#include "saturate.h"
#include "sources_parts.h"

/* Samples are 100 ms apart at least, but for the first few. */
#define PACE_FRESH_NS 50000000

/* A distance; above what fits, as large as may be. */
static uint64_t capped(uint64_t size_ns)
{
    return size_ns < SOURCES_ERROR_MAX ? size_ns : SOURCES_ERROR_MAX;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t sources_error_ns(const struct sources *sources, const struct claim *claim, int64_t mono_ns)
{
    int64_t low_ns, high_ns;
    claim_ends(claim, mono_ns, sources->drift_ppb, &low_ns, &high_ns);
    return capped(larger(saturate_distance(claim->offset_ns, low_ns),
                         saturate_distance(high_ns, claim->offset_ns)));
}

/* The kernel's word as a claim: its clock is right within maxerror. */
static void take_kernel(struct source *source, const struct discipline_sample *sample,
                        const struct slew *slew)
{
    struct claim claim = {0};
    claim.mono_ns = sample->mono_ns;
    claim.measured_ns = INT64_MIN; /* nobody tells when */
    claim.error_ns = (uint64_t)sample->maxerror_ns;
    claim.dispersion_ppb = sample->maxerror_ppb;
    if (slew->is_known && slew->most_ppb > claim.dispersion_ppb)
        claim.dispersion_ppb = (uint32_t)slew->most_ppb;
    claim.flags = sample->flags;
    claim.is_synchronized = sample->is_synchronized;
    source->claim = claim;
    source->answered_ns = sample->mono_ns;
    source->has_claim = true;
    source->is_up = true;
}

/* The kernel's word lacks a term (kernel_claim.c). */
static bool is_estimate(const struct source *source)
{
    return source->driver == NULL || source->driver->is_estimate;
}

/* Does a source that is believed, and is no falseticker, give a bound? */
static bool has_bound(const struct candidates *candidates)
{
    for (unsigned i = 0; i < candidates->count; i++)
        if (candidate_is_bound(candidates, i))
            return true;
    return false;
}

/* Estimates vote only where nobody has a bound. */
static void silence_estimates(struct candidates *candidates)
{
    bool is_any_bound = has_bound(candidates);
    for (unsigned i = 0; i < candidates->count && is_any_bound; i++)
        if (is_estimate(candidates->sources[i]))
            candidates->claims[i].is_synchronized = false;
}

/*
 * The second by which it is ahead of the system clock with a leap second, or behind: by its own word
 * of before. The bound of the lines has that second in it. What is still off by it when the leap is
 * over has parted.
 */
static int64_t leap_left_out_ns(const struct source *source)
{
    const struct source_range *was = &source->range;
    int64_t was_ns = was->low_ns / 2 + was->high_ns / 2;
    if (!was->is_known || !sources_is_leap(was_ns, source->claim.offset_ns))
        return 0;
    return source->claim.offset_ns > was_ns ? LEAP_NS : -LEAP_NS;
}

static void collect(struct sources *sources, const struct discipline_sample *sample,
                    struct candidates *candidates)
{
    candidates->count = 0;
    for (unsigned i = 0; i < sources->count; i++) {
        struct source *source = &sources->list[i];
        source->is_falseticker = false;
        if (source->driver == NULL)
            take_kernel(source, sample, &sources->slew);
        if (!source->has_claim)
            continue;
        struct claim claim = source->claim;
        if (sample->mono_ns - source->answered_ns > SOURCES_FRESH_NS)
            claim.is_synchronized = false;
        if (sources->is_leaping)
            claim.offset_ns -= leap_left_out_ns(source);
        candidates->are_bounds[candidates->count] = claim.is_synchronized && !is_estimate(source);
        candidates->sources[candidates->count] = source;
        candidates->claims[candidates->count++] = claim;
    }
    silence_estimates(candidates);
}

/* There is no majority. This bound holds whichever of the sources is right. */
static uint64_t widest(const struct sources *sources, const struct candidates *candidates,
                       const struct discipline_sample *sample)
{
    uint64_t most = (uint64_t)sample->maxerror_ns;
    for (unsigned i = 0; i < candidates->count; i++) {
        int64_t low_ns, high_ns;
        claim_ends(&candidates->claims[i], sample->mono_ns, sources->drift_ppb, &low_ns, &high_ns);
        most = larger(most, larger(saturate_abs(low_ns), saturate_abs(high_ns)));
    }
    return capped(most);
}

/*
 * How fast a line at the system clock's pace may leave what the claim says. An old answer does not
 * tell the pace since then, so the largest possible one is taken.
 */
static uint64_t leaving_ppb(const struct claim *claim, int64_t mono_ns)
{
    bool is_old = saturate_distance(mono_ns, claim->mono_ns) > PACE_FRESH_NS;
    return (uint64_t)claim->dispersion_ppb + (is_old ? claim->slew_ppb : claim->pace_ppb);
}

/*
 * How fast the bound grows until the next sample: as fast as the fastest claim that it rests on,
 * since any of them may be the one at its end. The discipline adds the oscillator's allowance.
 */
static uint32_t dispersion_ppb(const struct candidates *candidates,
                               const struct selection *selection, int64_t mono_ns)
{
    uint64_t most_ppb = 0;
    for (unsigned i = 0; i < candidates->count; i++) {
        const struct claim *claim = &candidates->claims[i];
        bool has_survived = claim->is_synchronized || !selection->is_synchronized;
        if (has_survived && !(selection->falsetickers >> i & 1))
            most_ppb = larger(most_ppb, leaving_ppb(claim, mono_ns));
    }
    return most_ppb < UINT32_MAX ? (uint32_t)most_ppb : UINT32_MAX;
}

/* TAI and leap seconds from those that agree, where the kernel has not been told. */
static void add_flags(const struct candidates *candidates, struct discipline_sample *sample)
{
    const uint32_t leaps = TIMEBASE_LINE_LEAP_INSERT | TIMEBASE_LINE_LEAP_DELETE;
    const uint32_t kept = leaps | TIMEBASE_LINE_ESTIMATE | TIMEBASE_LINE_COUNTER_DISTRUSTED;
    for (unsigned i = 0; i < candidates->count; i++) {
        uint32_t flags = candidates->claims[i].flags;
        if (candidates->sources[i]->is_falseticker || !candidates->claims[i].is_synchronized)
            continue;
        if (!(sample->flags & TIMEBASE_LINE_TAI_VALID) && (flags & TIMEBASE_LINE_TAI_VALID))
            sample->flags = (sample->flags & kept) | (flags & ~kept);
        if (!(sample->flags & leaps))
            sample->flags |= flags & leaps;
    }
}

/* Holds them against each other, and against what they have said before. */
static void select_range(struct sources *sources, struct candidates *candidates, int64_t mono_ns)
{
    struct selection before = sources->selection;
    struct selection *selection = &sources->selection;
    *selection = selection_of(candidates->claims, candidates->count, mono_ns, sources->drift_ppb);
    for (unsigned i = 0; i < candidates->count; i++)
        candidates->sources[i]->is_falseticker = selection->falsetickers >> i & 1;
    /* What was measured before a parting and what was after it may still have a point in common. */
    if (sources_look_for_parting(sources, &before, candidates, mono_ns) && selection->count > 1)
        selection->is_synchronized = false;
    sources->is_of_bounds = selection->is_synchronized && has_bound(candidates);
}

void sources_apply(struct sources *sources, struct discipline_sample *sample)
{
    struct candidates candidates;
    collect(sources, sample, &candidates);
    sample->flags |= TIMEBASE_LINE_ESTIMATE;
    select_range(sources, &candidates, sample->mono_ns);
    if (candidates.count == 0) {
        /* The kernel's word stays, as an estimate: the configuration asks others about UTC. */
        sample->is_synchronized = false;
        return;
    }
    const struct selection *selection = &sources->selection;
    sample->maxerror_ppb = dispersion_ppb(&candidates, selection, sample->mono_ns);
    if (!selection->is_reached) {
        sample->maxerror_ns = (int64_t)widest(sources, &candidates, sample);
        sample->is_synchronized = false;
        return;
    }
    uint64_t low = saturate_abs(selection->low_ns), high = saturate_abs(selection->high_ns);
    sample->maxerror_ns = (int64_t)capped(larger(low, high));
    sample->is_synchronized =
        selection->is_synchronized && !sources_are_disputed(sources, sample->mono_ns);
    add_flags(&candidates, sample);
    if (sources->is_of_bounds)
        sample->flags &= ~TIMEBASE_LINE_ESTIMATE;
}
