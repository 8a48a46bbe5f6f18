/* SPDX-License-Identifier: MIT */
/*
 * Sources' clocks that have parted from ours. If what they said before, widened by all that may have
 * been slewed since, and what they say now have nothing in common, then either their clocks have
 * stood still, or ours has. It counts only where both were bounds: an estimate lacks a term, and
 * may be left behind by a slew that it does not know.
 *
 * What a majority agrees on shows it best: who is alone with his parting is a falseticker. Where
 * there is no majority, before or now, each source is held against its own last word.
 */
#include "saturate.h"
#include "sources_parts.h"

static bool are_apart(int64_t low_ns, int64_t high_ns, int64_t was_low_ns, int64_t was_high_ns,
                      uint64_t slewed_ns)
{
    return low_ns > saturate_up(was_high_ns, slewed_ns) ||
        high_ns < saturate_down(was_low_ns, slewed_ns);
}

/* Since the last sample: the fastest of the two paces that were told may have been in force. */
static uint64_t count_slewed(struct sources *sources, int64_t mono_ns)
{
    uint64_t rate_ppb = sources->slew.most_ppb + sources->drift_ppb;
    uint64_t most_ppb = rate_ppb > sources->slewing_ppb ? rate_ppb : sources->slewing_ppb;
    uint64_t age_ns = saturate_distance(mono_ns, sources->selected_ns);
    uint64_t slewed_ns = saturate_growth(age_ns, most_ppb);
    sources->selected_ns = mono_ns;
    sources->slewing_ppb = rate_ppb;
    sources->slewed_ns = saturate_add(sources->slewed_ns, slewed_ns);
    return slewed_ns;
}

/* From its own last word, however long ago that was; remembers the new one. */
static bool has_parted_from_itself(const struct sources *sources, struct source *source,
                                   const struct claim *claim, int64_t mono_ns)
{
    struct source_range was = source->range;
    struct source_range now = {.is_known = true, .slewed_ns = sources->slewed_ns};
    claim_ends(claim, mono_ns, sources->drift_ppb, &now.low_ns, &now.high_ns);
    source->range = now;
    return was.is_known &&
        are_apart(now.low_ns, now.high_ns, was.low_ns, was.high_ns, now.slewed_ns - was.slewed_ns);
}

/* Who has measured since the disruption shows it. So it happened before the newest measurement. */
static void note_measured(struct sources *sources, const struct claim *claim)
{
    if (claim->measured_ns > sources->disrupted_ns)
        sources->disrupted_ns = claim->measured_ns;
}

bool sources_look_for_parting(struct sources *sources, const struct selection *before,
                              const struct candidates *candidates, int64_t mono_ns)
{
    const struct selection *now = &sources->selection;
    uint64_t slewed_ns = count_slewed(sources, mono_ns);
    bool are_bounds = false, any_parted = false, has_parted[SELECTION_CLAIMS] = {false};
    for (unsigned i = 0; i < candidates->count; i++) {
        if (!candidate_is_bound(candidates, i))
            continue;
        are_bounds = true;
        has_parted[i] = has_parted_from_itself(sources, candidates->sources[i],
                                               &candidates->claims[i], mono_ns);
        any_parted |= has_parted[i];
    }
    bool is_agreed = now->is_synchronized && are_bounds;
    bool is_majority = is_agreed && before->is_synchronized && sources->is_of_bounds;
    bool is_shown = is_majority
        ? are_apart(now->low_ns, now->high_ns, before->low_ns, before->high_ns, slewed_ns)
        : any_parted;
    if (!is_shown)
        return false;
    sources->disruptions++;
    sources->is_disputed = !is_agreed;
    for (unsigned i = 0; i < candidates->count; i++)
        if (candidate_is_bound(candidates, i) && (is_agreed || has_parted[i]))
            note_measured(sources, &candidates->claims[i]);
    return true;
}

/* Its answers rest on what it measured before the last disruption. */
static bool is_of_before(const struct sources *sources, const struct source *source,
                         int64_t mono_ns)
{
    return source->driver != NULL && source->claim.is_synchronized &&
        mono_ns - source->answered_ns <= SOURCES_FRESH_NS &&
        source->measured_ns < sources->disrupted_ns;
}

/*
 * One has shown a disruption, another did not: whoever is wrong, it may be the one. So it is not
 * believed alone, as long as others answer that are still to measure.
 */
bool sources_are_disputed(struct sources *sources, int64_t mono_ns)
{
    bool is_open = false;
    for (unsigned i = 0; i < sources->count; i++)
        is_open |= is_of_before(sources, &sources->list[i], mono_ns);
    sources->is_disputed &= is_open;
    return sources->is_disputed;
}
