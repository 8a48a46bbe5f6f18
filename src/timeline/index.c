/* SPDX-License-Identifier: MIT */
#include "index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <timebase/error.h>

#include "folder.h"
#include "piece.h"

#define BIT(reason) (1u << (reason))

/*
 * How many ticks a span holds from its last publication on. A missing line was published later and
 * began a lease after that at the earliest. If it is known when the first one was missed, the span
 * holds until then. If the counter was disrupted, the instant is unknown: the span ends at once.
 */
static uint64_t hold_ticks(const struct piece *last, const struct between *after)
{
    uint64_t held = after->held_ticks - last->last_published;
    if (after->reasons & BIT(TIMEBASE_TIMELINE_DISRUPTED))
        return 1;
    bool is_held = (after->reasons & BIT(TIMEBASE_TIMELINE_LOST)) && after->held_ticks != 0 &&
        !(after->reasons & BIT(TIMEBASE_TIMELINE_UNREADABLE)) && (int64_t)held > 0;
    return is_held && held > last->lease_ticks ? held : last->lease_ticks + 1;
}

/* A span ends where the next one of its boot begins, at the latest, if that is not before it. */
static void end_span(struct index *index, struct timeline_span *span, const struct piece *next)
{
    const struct piece *last = &index->pieces[span->last];
    span->after = next != NULL ? next->before : index->state.trailing;
    uint64_t hold = hold_ticks(last, &span->after);
    if (next != NULL && piece_is_of_same_counter(last, next)) {
        uint64_t left = next->first_published - last->last_published;
        if ((int64_t)left >= 0 && left < hold)
            hold = left;
    }
    span->begin = index->pieces[span->first].first_published;
    span->length = last->last_published - span->begin + hold;
}

static struct timeline_span *add_span(struct index *index, size_t first)
{
    struct timeline_span span = {.first = first};
    struct timeline_span *spans =
        piece_with_room(index->spans, index->span_count, &index->span_room, sizeof(span));
    if (spans == NULL)
        return NULL;
    index->spans = spans;
    spans[index->span_count] = span;
    return &spans[index->span_count++];
}

static int make_spans(struct index *index)
{
    struct timeline_span *span = NULL;
    index->span_count = 0;
    for (size_t i = 0; i < index->piece_count; i++) {
        const struct piece *next = i + 1 < index->piece_count ? &index->pieces[i + 1] : NULL;
        if (span == NULL)
            span = add_span(index, i);
        if (span == NULL)
            return TIMEBASE_E_RESOURCE;
        span->last = i;
        if (next != NULL && next->is_joined)
            continue;
        end_span(index, span, next);
        span = NULL;
    }
    return TIMEBASE_OK;
}

/* The newest segment may have grown: forget what was known of it. */
static void forget_newest(struct index *index)
{
    while (index->piece_count > 0 && index->pieces[index->piece_count - 1].segment >= index->newest)
        index->piece_count--;
    while (index->damage_count > 0 &&
           index->damages[index->damage_count - 1].segment >= index->newest)
        index->damage_count--;
    index->state = index->before_newest;
}

/* Segments below this one are gone. */
static void forget_older(struct index *index, uint32_t oldest)
{
    size_t pieces = 0, damages = 0;
    while (pieces < index->piece_count && index->pieces[pieces].segment < oldest)
        pieces++;
    while (damages < index->damage_count && index->damages[damages].segment < oldest)
        damages++;
    index->piece_count -= pieces;
    index->damage_count -= damages;
    if (pieces > 0)
        memmove(index->pieces, index->pieces + pieces, index->piece_count * sizeof(*index->pieces));
    if (damages > 0)
        memmove(index->damages, index->damages + damages,
                index->damage_count * sizeof(*index->damages));
}

static void forget_all(struct index *index)
{
    static const struct index_state nothing;
    index->piece_count = index->damage_count = index->span_count = 0;
    index->state = index->before_newest = nothing;
    index->has_newest = false;
}

enum { GONE = 2, TRIES = 8 };

/* Returns 1 for a segment, whole or torn; 0 if the file is no segment; GONE; or an error. */
static int add_segment(struct index *index, int folder, uint32_t number)
{
    struct timeline_segment segment;
    int error = segment_open(&segment, folder, number, O_RDONLY);
    if (error == TIMEBASE_E_NOT_FOUND)
        return GONE; /* the writer has just dropped it */
    if (error < 0)
        return error;
    index->before_newest = index->state;
    index->newest = number;
    index->newest_size = segment.size;
    index->has_newest = true;
    if (error != TIMEBASE_OK) {
        int added = piece_add_damage(index, number, 0, segment.size);
        return added == TIMEBASE_OK ? error == SEGMENT_TORN : added;
    }
    error = piece_add_segment(index, &segment);
    segment_close(&segment);
    return error == TIMEBASE_OK ? 1 : error;
}

static bool has_file(int folder, uint32_t number, uint64_t *size)
{
    char name[SEGMENT_NAME_SIZE];
    struct stat status;
    segment_name(number, name);
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    *size = (uint64_t)status.st_size;
    return true;
}

/*
 * Between these two, one after the other in a listing, some numbers are missing. If the next one is there, it was made
 * while the folder was listed: GONE, list it again. If the lower one has been dropped meanwhile, so have those before
 * it. Else somebody has removed what is missing: a gap.
 */
static int judge_hole(struct index *index, int folder, uint32_t lower, uint32_t upper)
{
    uint64_t size;
    if (upper == lower + 1)
        return 0;
    if (has_file(folder, lower + 1, &size))
        return GONE;
    if (!has_file(folder, lower, &size))
        forget_all(index);
    return 0;
}

/*
 * The writer drops the oldest first. So if one is gone, those before it are, whatever was read of them meanwhile: it
 * would look like a gap. Returns GONE if all are, as a thread that is held up may find, or if some were not listed.
 */
static int add_segments(struct index *index, int folder, const uint32_t *numbers, size_t count)
{
    bool has_any = index->piece_count > 0 || index->state.has_sequence, is_gone = false;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && judge_hole(index, folder, numbers[i - 1], numbers[i]) == GONE)
            return GONE;
        int added = add_segment(index, folder, numbers[i]);
        if (added < 0)
            return added;
        is_gone = added == GONE;
        if (is_gone)
            forget_all(index);
        has_any = has_any || added;
    }
    if (is_gone)
        return GONE;
    return has_any || count == 0 ? make_spans(index) : TIMEBASE_E_FORMAT;
}

static size_t find(const uint32_t *numbers, size_t count, uint32_t number)
{
    size_t i = 0;
    while (i < count && numbers[i] != number)
        i++;
    return i;
}

static int update_once(struct index *index, int folder)
{
    uint32_t *numbers;
    size_t count;
    int error = folder_list(folder, &numbers, &count);
    if (error != TIMEBASE_OK)
        return error;
    size_t from = index->has_newest ? find(numbers, count, index->newest) : count;
    if (from < count) {
        forget_newest(index);
        forget_older(index, numbers[0]);
    } else {
        forget_all(index);
        from = 0;
    }
    error = add_segments(index, folder, numbers + from, count - from);
    free(numbers);
    if (error != TIMEBASE_OK)
        forget_all(index);
    return error;
}

int index_update(struct index *index, int folder)
{
    int error = GONE;
    for (int i = 0; i < TRIES && error == GONE; i++)
        error = update_once(index, folder);
    return error == GONE ? TIMEBASE_E_NOT_FOUND : error;
}

bool index_is_outdated(const struct index *index, int folder)
{
    uint64_t size;
    if (!index->has_newest)
        return true;
    return !has_file(folder, index->newest, &size) || size != index->newest_size ||
        has_file(folder, index->newest + 1, &size);
}

void index_free(struct index *index)
{
    free(index->pieces);
    free(index->spans);
    free(index->damages);
}
