/* SPDX-License-Identifier: MIT */
#include "join.h"

#define BIT(reason) (1u << (reason))

static bool is_same_time(const struct timebase_line *a, const struct timebase_line *b)
{
    return a->start_ticks == b->start_ticks && a->mono_ns == b->mono_ns &&
        a->utc_ns == b->utc_ns && a->period_frac == b->period_frac &&
        a->period_ns == b->period_ns;
}

/* Did the writer of `next` begin with a line that the one before it had left in force? */
static bool is_taken_up(const struct timebase_lines *left, const struct timebase_lines *next)
{
    return is_same_time(&next->before, &left->after) || is_same_time(&next->before, &left->slew);
}

static bool is_joined(const struct index_state *state, const struct piece *left,
                      const struct piece *next, const struct timeline_publication *first)
{
    const unsigned harmless = BIT(TIMEBASE_TIMELINE_KILLED) | BIT(TIMEBASE_TIMELINE_ENDED);
    if (!state->has_tail || !piece_is_of_same_counter(left, next) ||
        (int64_t)(next->first_published - left->last_published) < 0)
        return false;
    if (next->before.reasons == 0)
        return left->run == next->run;
    return (next->before.reasons & ~harmless) == 0 &&
        is_taken_up(&state->tail.lines, &first->lines);
}

/* Marks and missing records at the end of the segment before come before this piece. */
static void take_trailing(struct index_state *state, struct piece *piece)
{
    static const struct between nothing;
    piece->before.reasons |= state->trailing.reasons;
    if (state->trailing.held_ticks != 0)
        piece->before.held_ticks = state->trailing.held_ticks;
    state->trailing = nothing;
}

void join_pieces(struct index *index, struct timeline_segment *segment, size_t from)
{
    struct index_state *state = &index->state;
    for (size_t i = from; i < index->piece_count; i++) {
        struct piece *piece = &index->pieces[i];
        struct timeline_publication first;
        take_trailing(state, piece);
        piece->is_joined = i > 0 && segment_publication(segment, piece->first, &first) &&
            is_joined(state, piece - 1, piece, &first);
        state->has_tail = segment_publication(segment, piece->last, &state->tail);
    }
}
