/* SPDX-License-Identifier: MIT */
/* search: which span a tick or a time belongs to, or why to none. */
#ifndef TIMELINE_SEARCH_H
#define TIMELINE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lookup.h"

/* Spans that hold what is asked for, and where those of the newest boot asked for lie. */
struct timeline_search {
    const struct timeline_span *span; /* the last one that holds it */
    unsigned count;
    const struct timeline_span *newest;
    bool is_after_some, is_before_some; /* of the spans of the newest one's boot */
};

/* boot may be null: any. */
struct timeline_search search_ticks(timebase_timeline *timeline, const uint8_t *boot,
                                    uint64_t ticks);
struct timeline_search search_utc(timebase_timeline *timeline, const uint8_t *boot, int64_t utc_ns);

/* Why there is no span, or that there is one too many. */
int search_judge(const struct timeline_search *found);

/*
 * Is this a tick of an older boot that is later than all known ticks of the newest one? The newest
 * boot may have shown it since, so without a boot asked for it is ambiguous.
 */
bool search_may_be_of_newest(timebase_timeline *timeline, const struct timeline_search *found);

/*
 * Is nothing but an end of the writer known after the newest span? Then its last line may be drawn
 * on.
 */
bool search_can_be_drawn_on(const struct timeline_search *found);

/* UTC of a tick of the span, which is so far from its begin. */
int search_utc_at(timebase_timeline *timeline, const struct timeline_span *span, uint64_t offset,
                  int64_t *utc_ns);

#endif
