/* SPDX-License-Identifier: MIT */
/* timeline: which span a tick or a time belongs to, or why to none. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <timebase/timeline.h>

#include "folder.h"
#include "lookup.h"

/* Spans that hold what is asked for, and where those of the newest boot asked for lie. */
struct found {
    const struct span *span; /* the last one that holds it */
    unsigned count;
    const struct span *newest;
    bool is_after_some, is_before_some; /* of the spans of the newest one's boot */
};

static const struct piece *piece_of(const timebase_timeline *timeline, const struct span *span)
{
    return &timeline->index.pieces[span->first];
}

static bool is_boot(const struct piece *piece, const uint8_t *boot)
{
    return boot == NULL || memcmp(piece->boot, boot, sizeof(piece->boot)) == 0;
}

static bool is_same_counter(const struct piece *a, const struct piece *b)
{
    return is_boot(a, b->boot) && a->counter_id == b->counter_id;
}

/* The next older span of the boot, or of any; *left: those not looked at yet, at first all. */
static struct span *older_span(timebase_timeline *timeline, const uint8_t *boot, size_t *left)
{
    while (*left > 0) {
        struct span *span = &timeline->index.spans[--*left];
        if (is_boot(piece_of(timeline, span), boot))
            return span;
    }
    return NULL;
}

static void note_place(timebase_timeline *timeline, struct found *found, const struct span *span,
                       bool is_after, bool is_before)
{
    if (found->newest == NULL)
        found->newest = span;
    if (!is_same_counter(piece_of(timeline, span), piece_of(timeline, found->newest)))
        return;
    found->is_after_some = found->is_after_some || is_after;
    found->is_before_some = found->is_before_some || is_before;
}

static struct found find_ticks(timebase_timeline *timeline, const uint8_t *boot, uint64_t ticks)
{
    struct found found = {NULL, 0, NULL, false, false};
    size_t left = timeline->index.span_count;
    for (struct span *span; (span = older_span(timeline, boot, &left)) != NULL;) {
        uint64_t offset = ticks - span->begin;
        bool is_in = offset < span->length;
        if (is_in) {
            found.span = span;
            found.count++;
        }
        note_place(timeline, &found, span, !is_in && (int64_t)offset >= 0,
                   !is_in && (int64_t)offset < 0);
    }
    return found;
}

/* Why there is no span, or that there is one too many. */
static int judge(const struct found *found)
{
    if (found->newest == NULL)
        return TIMEBASE_E_NO_BOOT;
    if (found->count > 1)
        return TIMEBASE_E_AMBIGUOUS;
    if (found->count == 1)
        return TIMEBASE_OK;
    if (found->is_after_some && found->is_before_some)
        return TIMEBASE_E_GAP;
    return found->is_after_some ? TIMEBASE_E_TOO_LATE : TIMEBASE_E_TOO_EARLY;
}

/*
 * A tick of an older boot that lies beyond all that is known of the newest one: that boot may go
 * on and have shown it since. A boot that was asked for is not to be guessed.
 */
static bool may_be_of_newest(timebase_timeline *timeline, const struct found *found)
{
    return found->count == 1 && found->is_after_some && !found->is_before_some &&
        !is_same_counter(piece_of(timeline, found->span), piece_of(timeline, found->newest));
}

static bool can_be_drawn_on(const struct found *found)
{
    const unsigned harmless = 1u << TIMEBASE_TIMELINE_KILLED | 1u << TIMEBASE_TIMELINE_ENDED;
    return found->newest != NULL && (found->newest->after.reasons & ~harmless) == 0;
}

static int at_once(timebase_timeline *timeline, const uint8_t *boot, uint64_t ticks,
                   struct timebase_instant *out)
{
    struct found found = find_ticks(timeline, boot, ticks);
    int error = judge(&found);
    if (error == TIMEBASE_OK && boot == NULL && may_be_of_newest(timeline, &found))
        return TIMEBASE_E_AMBIGUOUS;
    if (error == TIMEBASE_OK)
        return lookup_convert(timeline, found.span, ticks, out);
    if (error == TIMEBASE_E_TOO_LATE && timeline->is_drawing_on && can_be_drawn_on(&found))
        return lookup_convert_beyond(timeline, found.newest, ticks, out);
    return error;
}

/* Because of this error. Where a segment is gone it need not be one of the oldest: all anew. */
static int update(timebase_timeline *timeline, int error)
{
    lookup_forget(timeline);
    if (error == TIMEBASE_E_NOT_FOUND)
        timeline->index.has_newest = false;
    return index_update(&timeline->index, timeline->folder);
}

/* Is it worth looking at the folder again? */
static bool may_have_changed(const timebase_timeline *timeline, int error)
{
    if (error == TIMEBASE_E_NOT_FOUND)
        return true;
    bool is_at_the_end = error == TIMEBASE_E_TOO_LATE || error == TIMEBASE_E_AMBIGUOUS ||
        error == TIMEBASE_E_NO_BOOT || error == TIMEBASE_E_GAP;
    return (is_at_the_end || timeline->is_drawing_on) &&
        index_is_outdated(&timeline->index, timeline->folder);
}

TIMEBASE_API int timebase_timeline_at(timebase_timeline *timeline, const uint8_t *boot,
                                      uint64_t ticks, struct timebase_instant *out)
{
    if (timeline == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    struct timebase_instant found;
    int error = at_once(timeline, boot, ticks, &found);
    if (may_have_changed(timeline, error)) {
        error = update(timeline, error);
        if (error == TIMEBASE_OK)
            error = at_once(timeline, boot, ticks, &found);
    }
    if (error == TIMEBASE_OK)
        *out = found;
    /* Dropped twice while it was looked for: it was among the oldest. */
    return error == TIMEBASE_E_NOT_FOUND ? TIMEBASE_E_TOO_EARLY : error;
}

TIMEBASE_API int64_t timebase_timeline_at_many(timebase_timeline *timeline, const uint8_t *boot,
                                               const uint64_t *ticks, size_t count,
                                               struct timebase_instant *out, int32_t *results)
{
    static const struct timebase_instant nothing;
    int64_t converted = 0;
    if (timeline == NULL || (count > 0 && (ticks == NULL || out == NULL || results == NULL)))
        return TIMEBASE_E_INVALID;
    for (size_t i = 0; i < count; i++) {
        out[i] = nothing;
        results[i] = timebase_timeline_at(timeline, boot, ticks[i], &out[i]);
        converted += results[i] == TIMEBASE_OK;
    }
    return converted;
}

static int utc_at(timebase_timeline *timeline, const struct span *span, uint64_t offset,
                  int64_t *utc_ns)
{
    struct timebase_instant instant;
    int error = lookup_convert(timeline, span, span->begin + offset, &instant);
    if (error == TIMEBASE_OK)
        *utc_ns = instant.utc_ns;
    return error;
}

/* UTC at the span's ends, kept. */
static int learn_utc(timebase_timeline *timeline, struct span *span)
{
    if (span->has_utc)
        return TIMEBASE_OK;
    int error = utc_at(timeline, span, 0, &span->first_utc_ns);
    if (error == TIMEBASE_OK)
        error = utc_at(timeline, span, span->length - 1, &span->last_utc_ns);
    span->has_utc = error == TIMEBASE_OK;
    return error;
}

static struct found find_utc(timebase_timeline *timeline, const uint8_t *boot, int64_t utc_ns)
{
    struct found found = {NULL, 0, NULL, false, false};
    size_t left = timeline->index.span_count;
    for (struct span *span; (span = older_span(timeline, boot, &left)) != NULL;) {
        if (learn_utc(timeline, span) != TIMEBASE_OK)
            continue;
        bool is_in = utc_ns >= span->first_utc_ns && utc_ns <= span->last_utc_ns;
        if (is_in) {
            found.span = span;
            found.count++;
        }
        if (found.newest == NULL)
            found.newest = span;
        found.is_after_some = found.is_after_some || utc_ns > span->last_utc_ns;
        found.is_before_some = found.is_before_some || utc_ns < span->first_utc_ns;
    }
    return found;
}

/* By halves, asking the conversion itself: the inverse cannot disagree with it. */
static int first_tick(timebase_timeline *timeline, const struct span *span, int64_t utc_ns,
                      uint64_t *ticks)
{
    uint64_t low = 0, high = span->length - 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int64_t there_ns;
        int error = utc_at(timeline, span, middle, &there_ns);
        if (error != TIMEBASE_OK)
            return error;
        if (there_ns < utc_ns)
            low = middle + 1;
        else
            high = middle;
    }
    *ticks = span->begin + low;
    return TIMEBASE_OK;
}

static int ticks_at_utc_once(timebase_timeline *timeline, const uint8_t *boot, int64_t utc_ns,
                             uint64_t *ticks)
{
    struct found found = find_utc(timeline, boot, utc_ns);
    int error = judge(&found);
    return error == TIMEBASE_OK ? first_tick(timeline, found.span, utc_ns, ticks) : error;
}

TIMEBASE_API int timebase_timeline_ticks_at_utc(timebase_timeline *timeline, const uint8_t *boot,
                                                int64_t utc_ns, uint64_t *ticks)
{
    if (timeline == NULL || ticks == NULL)
        return TIMEBASE_E_INVALID;
    int error = ticks_at_utc_once(timeline, boot, utc_ns, ticks);
    if (may_have_changed(timeline, error)) {
        error = update(timeline, error);
        if (error == TIMEBASE_OK)
            error = ticks_at_utc_once(timeline, boot, utc_ns, ticks);
    }
    /* Dropped twice while it was looked for: it was among the oldest. */
    return error == TIMEBASE_E_NOT_FOUND ? TIMEBASE_E_TOO_EARLY : error;
}

TIMEBASE_API void timebase_timeline_set_drawing_on(timebase_timeline *timeline, bool drawing_on)
{
    if (timeline != NULL)
        timeline->is_drawing_on = drawing_on;
}

TIMEBASE_API int timebase_timeline_open(timebase_timeline **out, const char *folder)
{
    if (out == NULL)
        return TIMEBASE_E_INVALID;
    *out = NULL;
    if (folder == NULL)
        return TIMEBASE_E_INVALID;
    int fd = folder_open(folder);
    if (fd < 0)
        return fd;
    timebase_timeline *timeline = aligned_alloc(_Alignof(timebase_timeline), sizeof(*timeline));
    if (timeline == NULL) {
        close(fd);
        return TIMEBASE_E_RESOURCE;
    }
    memset(timeline, 0, sizeof(*timeline));
    timeline->folder = fd;
    int error = index_update(&timeline->index, fd);
    if (error != TIMEBASE_OK) {
        timebase_timeline_close(timeline);
        return error;
    }
    *out = timeline;
    return TIMEBASE_OK;
}

TIMEBASE_API void timebase_timeline_close(timebase_timeline *timeline)
{
    if (timeline == NULL)
        return;
    lookup_forget(timeline);
    index_free(&timeline->index);
    close(timeline->folder);
    free(timeline);
}
