/* SPDX-License-Identifier: MIT */
/*
 * span: what of a timeline can be converted.
 *
 *     segment   a file
 *     run       publications one after the other, from a mark to the next
 *     piece     what a segment has of a run: its publications are in the order of their ticks
 *     span      pieces without a gap in between: every tick in it has one meaning
 *
 * A record names the mark that its run began with, so a reader leaps from the end of a segment to
 * the beginning of each of its pieces. Pieces join into a span where a run goes on in the next
 * segment, and where a new writer began with the lines that the one before it had left: then no
 * line is missing.
 */
#ifndef TIMELINE_SPAN_H
#define TIMELINE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <timebase/timeline.h>

#include "record.h"
#include "segment.h"

/* What lies between a piece and the one before it: bits by enum timebase_timeline_reason. */
struct between {
    unsigned reasons;
    uint64_t held_ticks; /* LOST: the first publication that is missing; 0: unknown */
};

struct piece {
    uint32_t segment;
    uint32_t first, last; /* records */
    uint32_t run;
    int32_t counter_id;
    uint8_t boot[RECORD_BOOT_SIZE];
    uint64_t first_published, last_published;
    uint64_t lease_ticks; /* until this long after the last one no other line can have begun */
    struct between before;
    bool is_joined; /* to the piece before it */
};

struct timeline_span {
    size_t first, last;     /* pieces */
    uint64_t begin, length; /* ticks */
    struct between after;
    bool has_utc; /* worked out already? */
    int64_t first_utc_ns, last_utc_ns;
};

/* What is known after the segments up to some place. */
struct index_state {
    struct between trailing; /* marks after the last piece */
    bool has_tail;           /* there was a piece, and its last publication is known: */
    struct timeline_publication tail;
    bool has_sequence;
    uint32_t sequence; /* of the record that is to come next */
};

struct index {
    struct piece *pieces;
    size_t piece_count, piece_room;
    struct timeline_span *spans;
    size_t span_count, span_room;
    struct timebase_timeline_damage *damages;
    size_t damage_count, damage_room;
    struct index_state state, before_newest;
    uint32_t newest; /* the segment read last; it may still grow */
    uint64_t newest_size;
    bool has_newest;
};

/* The first piece of a span; boot and counter are the same in all of them. */
static inline const struct piece *index_piece_of(const struct index *index,
                                                 const struct timeline_span *span)
{
    return &index->pieces[span->first];
}

static inline bool piece_is_of_boot(const struct piece *piece, const uint8_t *boot)
{
    return memcmp(piece->boot, boot, sizeof(piece->boot)) == 0;
}

/* Do their ticks count the same thing? */
static inline bool piece_is_of_same_counter(const struct piece *a, const struct piece *b)
{
    return a->counter_id == b->counter_id && piece_is_of_boot(a, b->boot);
}

#endif
