/* SPDX-License-Identifier: MIT */
#include "departure.h"

#include "saturate.h"

/* Samples are at most 2 s apart. Two answers that are twice as far apart are not compared. */
#define STRETCH_MAX_NS 4000000000

static uint32_t narrowed(uint64_t ppb)
{
    return ppb < UINT32_MAX ? (uint32_t)ppb : UINT32_MAX;
}

/* ns over ns as ppb, rounded up; saturated. */
static uint64_t ratio_ppb(uint64_t ns, uint64_t over_ns)
{
    if (ns > UINT64_MAX / 1000000000 - 1)
        return UINT64_MAX;
    return (ns * 1000000000 + over_ns - 1) / over_ns;
}

static bool is_measurable(const struct departure *departure, const struct claim *claim)
{
    return departure->has_answer && claim->mono_ns > departure->claim.mono_ns &&
        claim->mono_ns - departure->claim.mono_ns <= STRETCH_MAX_NS;
}

/*
 * The mean over the stretch, as the slope of the samples shows it. The stretch ends some moments
 * before or after the samples, so a change of rate in between counts in full.
 */
static uint64_t measured(const struct departure *departure, const struct claim *claim,
                         const struct slew *slew)
{
    const struct claim *last = &departure->claim;
    uint64_t stretch_ns = (uint64_t)(claim->mono_ns - last->mono_ns);
    uint64_t moved_ns = saturate_distance(claim->offset_ns, last->offset_ns);
    uint64_t unsure_ns = saturate_add(claim->read_error_ns, last->read_error_ns);
    uint64_t changed_ppb = slew->is_known && departure->is_rate_known
        ? saturate_distance(slew->rate_ppb, departure->rate_ppb)
        : 0;
    uint64_t mean_ppb = ratio_ppb(moved_ns, stretch_ns);
    uint64_t most_ppb = saturate_add(mean_ppb, ratio_ppb(unsure_ns, stretch_ns));
    most_ppb = saturate_add(most_ppb, changed_ppb);
    /* An uncertain measurement does not narrow the range of what is possible. */
    uint64_t limit_ppb = mean_ppb > slew->most_ppb ? most_ppb : slew->most_ppb;
    return most_ppb < limit_ppb ? most_ppb : limit_ppb;
}

void departure_take(struct departure *departure, struct claim *claim, const struct slew *slew)
{
    /* The same answer once more is no measurement. */
    if (!departure->has_answer || claim->mono_ns != departure->claim.mono_ns) {
        departure->ppb =
            narrowed(is_measurable(departure, claim) ? measured(departure, claim, slew) : slew->most_ppb);
        departure->has_answer = true;
        departure->is_rate_known = slew->is_known;
        departure->rate_ppb = slew->rate_ppb;
        departure->claim = *claim;
    }
    claim->pace_ppb = departure->ppb;
    claim->slew_ppb = narrowed(slew->most_ppb > departure->ppb ? slew->most_ppb : departure->ppb);
}
