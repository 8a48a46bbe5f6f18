/* SPDX-License-Identifier: MIT */
/* sources_parts: what the files of sources share. Not for others. */
#ifndef SOURCES_SOURCES_PARTS_H
#define SOURCES_SOURCES_PARTS_H

#include "saturate.h"
#include "sources.h"

/* Errors stop here, far below where sums wrap: 2^60 ns are 36 years. */
#define SOURCES_ERROR_MAX ((uint64_t)1 << 60)

/* Its driver, with a context of its own. Returns 0 or an error, and source->reason. */
int source_open(struct source *source);
void source_close(struct source *source);

/* Are these offsets of one source a leap second apart, but for a correction at the same time? */
static inline bool sources_is_leap(int64_t was_ns, int64_t offset_ns)
{
    uint64_t moved_ns = saturate_distance(was_ns, offset_ns);
    return moved_ns > LEAP_NS / 2 && moved_ns < LEAP_NS / 2 * 3;
}

/* The claims that there are, and the source of each. */
struct candidates {
    struct claim claims[SELECTION_CLAIMS];
    struct source *sources[SELECTION_CLAIMS];
    bool are_bounds[SELECTION_CLAIMS]; /* believed, and no estimates; falsetickers among them */
    unsigned count;
};

/* Does this one give a bound, and is it no falseticker of those that were named? */
static inline bool candidate_is_bound(const struct candidates *candidates, unsigned which)
{
    return candidates->are_bounds[which] && !candidates->sources[which]->is_falseticker;
}

/*
 * sources_parting.c, with each sample. Have the sources' clocks gone on without ours, or ours
 * without theirs? `before` is the selection of the sample before; is_of_bounds still tells of it.
 * The candidates' falsetickers are named. True: then some of the claims are perhaps of before.
 */
bool sources_look_for_parting(struct sources *sources, const struct selection *before,
                              const struct candidates *candidates, int64_t mono_ns);

/* Nobody has settled which of the sources is right about the last disruption. */
bool sources_are_disputed(struct sources *sources, int64_t mono_ns);

#endif
