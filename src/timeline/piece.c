/* SPDX-License-Identifier: MIT */
#include "piece.h"

#include <stdlib.h>
#include <string.h>

#include <timebase/error.h>

#include "join.h"

#define BIT(reason) (1u << (reason))

void *piece_with_room(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    size_t more = *room == 0 ? 16 : 2 * *room;
    void *moved = realloc(items, more * size);
    if (moved != NULL)
        *room = more;
    return moved;
}

int piece_add_damage(struct index *index, uint32_t segment, uint64_t offset, uint64_t size)
{
    struct timebase_timeline_damage damage = {segment, 0, offset, size};
    struct timebase_timeline_damage *damages =
        piece_with_room(index->damages, index->damage_count, &index->damage_room, sizeof(damage));
    if (damages == NULL)
        return TIMEBASE_E_RESOURCE;
    index->damages = damages;
    damages[index->damage_count++] = damage;
    return TIMEBASE_OK;
}

/* A walk through a segment from its end to its beginning. */
struct walk {
    struct index *index;
    struct timeline_segment *segment;
    size_t oldest;        /* the pieces of this segment begin here, newest first */
    struct between after; /* the marks met since the piece that was found last */
    struct between trailing;
};

static void note(struct walk *walk, unsigned reason)
{
    bool is_known = reason >= TIMEBASE_TIMELINE_KILLED && reason <= TIMEBASE_TIMELINE_LOST;
    walk->after.reasons |= BIT(is_known ? reason : TIMEBASE_TIMELINE_UNREADABLE);
}

/*
 * The walk goes back in time: the marks met so far lie before the piece that was found last, or at
 * the end of the segment if none was found yet.
 */
static void settle(struct walk *walk)
{
    static const struct between nothing;
    struct index *index = walk->index;
    if (index->piece_count == walk->oldest)
        walk->trailing = walk->after;
    else
        index->pieces[index->piece_count - 1].before = walk->after;
    walk->after = nothing;
}

/*
 * The lease, at most 20 ms in ticks: a line that was published later cannot have begun within it.
 */
static uint64_t lease_ticks(const struct timebase_line *line)
{
    uint64_t period = ((uint64_t)line->period_ns << 32) + (line->period_frac >> 32) + 1;
    /* The longest possible tick wraps to 0; no page has one. */
    return period == 0 ? 0 : ((uint64_t)TIMEBASE_PAGE_LEASE_NS << 32) / period;
}

static bool is_of_run(struct timeline_segment *segment, uint32_t index, uint32_t run)
{
    const uint8_t *record = segment_record(segment, index);
    if (record == NULL || record_head(record).run != run)
        return false;
    unsigned type = record_head(record).type;
    return type == RECORD_LINES || type == RECORD_LINE;
}

/* The boot of a run, from its mark if that is in this segment. False if the mark is not there. */
static bool find_begin(struct timeline_segment *segment, uint32_t last, struct piece *piece)
{
    uint32_t at = piece->run - segment->sequence;
    bool is_here = at >= 1 && at < last;
    if (!is_here) {
        memcpy(piece->boot, segment->first.boot, sizeof(piece->boot));
        piece->counter_id = segment->first.counter_id;
        piece->first = 1;
        return true;
    }
    piece->first = at + 1;
    const uint8_t *record = segment_record(segment, at);
    if (record == NULL || record_head(record).type != RECORD_MARK)
        return false;
    struct record_mark mark = record_get_mark(record);
    memcpy(piece->boot, mark.boot, sizeof(piece->boot));
    piece->counter_id = mark.counter_id;
    return true;
}

/* The first and the last publication, and how long that one holds. */
static bool find_ticks(struct timeline_segment *segment, struct piece *piece)
{
    struct timeline_publication publication;
    while (piece->first < piece->last && !is_of_run(segment, piece->first, piece->run))
        piece->first++;
    const uint8_t *first = segment_record(segment, piece->first);
    piece->first_published = first != NULL ? record_published_ticks(first) : 0;
    /* The file may have been cut since the record was seen. */
    if (first == NULL || !segment_publication(segment, piece->last, &publication))
        return false;
    piece->last_published = publication.published_ticks;
    piece->lease_ticks = lease_ticks(&publication.lines.after);
    return true;
}

/* The piece that ends with record `last`, which is a line. Returns the record before it. */
static int add_piece(struct walk *walk, uint32_t *last)
{
    struct index *index = walk->index;
    struct piece piece = {0};
    piece.segment = walk->segment->number;
    piece.last = *last;
    piece.run = record_head(segment_record(walk->segment, *last)).run;
    bool has_begin = find_begin(walk->segment, *last, &piece);
    *last = piece.first - 1;
    if (!has_begin || !find_ticks(walk->segment, &piece)) {
        note(walk, TIMEBASE_TIMELINE_UNREADABLE);
        return piece_add_damage(index, piece.segment, (uint64_t)piece.first * RECORD_SIZE,
                                (uint64_t)(piece.last + 1 - piece.first) * RECORD_SIZE);
    }
    struct piece *pieces =
        piece_with_room(index->pieces, index->piece_count, &index->piece_room, sizeof(piece));
    if (pieces == NULL)
        return TIMEBASE_E_RESOURCE;
    index->pieces = pieces;
    settle(walk);
    pieces[index->piece_count++] = piece;
    return TIMEBASE_OK;
}

/* One step towards the beginning. */
static int look_at(struct walk *walk, uint32_t *at)
{
    const uint8_t *record = segment_record(walk->segment, *at);
    struct record_head head = {0};
    if (record != NULL)
        head = record_head(record);
    if (head.type == RECORD_LINES || head.type == RECORD_LINE)
        return add_piece(walk, at);
    if (head.type == RECORD_MARK) {
        note(walk, head.part);
        if (head.part == TIMEBASE_TIMELINE_LOST)
            walk->after.held_ticks = record_get_mark(record).held_ticks;
        (*at)--;
        return TIMEBASE_OK;
    }
    note(walk, TIMEBASE_TIMELINE_UNREADABLE);
    (*at)--;
    return piece_add_damage(walk->index, walk->segment->number, (*at + 1) * (uint64_t)RECORD_SIZE,
                            RECORD_SIZE);
}

static void put_in_order(struct piece *pieces, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct piece piece = pieces[i];
        pieces[i] = pieces[count - 1 - i];
        pieces[count - 1 - i] = piece;
    }
}

int piece_add_segment(struct index *index, struct timeline_segment *segment)
{
    struct walk walk = {.index = index, .segment = segment, .oldest = index->piece_count};
    struct index_state *state = &index->state;
    uint32_t end = segment_end(segment), at = end - 1;
    int error = TIMEBASE_OK;

    if (state->has_sequence && segment->sequence != state->sequence)
        state->trailing.reasons |= BIT(TIMEBASE_TIMELINE_UNREADABLE);
    state->sequence = segment->sequence + end;
    state->has_sequence = true;
    if (segment->size > (uint64_t)end * RECORD_SIZE)
        error = piece_add_damage(index, segment->number, (uint64_t)end * RECORD_SIZE,
                                 segment->size - (uint64_t)end * RECORD_SIZE);
    while (error == TIMEBASE_OK && at >= 1)
        error = look_at(&walk, &at);
    settle(&walk);
    if (index->piece_count > walk.oldest)
        put_in_order(index->pieces + walk.oldest, index->piece_count - walk.oldest);
    join_pieces(index, segment, walk.oldest);
    state->trailing.reasons |= walk.trailing.reasons;
    if (walk.trailing.held_ticks != 0)
        state->trailing.held_ticks = walk.trailing.held_ticks;
    return error;
}
