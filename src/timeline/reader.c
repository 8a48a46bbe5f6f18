/* SPDX-License-Identifier: MIT */
/* reader: the public functions that convert by a timeline; it looks again where that may help. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <timebase/timeline.h>

#include "folder.h"
#include "search.h"

static int at_once(timebase_timeline *timeline, const uint8_t *boot, uint64_t ticks,
                   struct timebase_instant *out)
{
    struct timeline_search found = search_ticks(timeline, boot, ticks);
    int error = search_judge(&found);
    if (error == TIMEBASE_OK && boot == NULL && search_may_be_of_newest(timeline, &found))
        return TIMEBASE_E_AMBIGUOUS;
    if (error == TIMEBASE_OK)
        return lookup_convert(timeline, found.span, ticks, out);
    if (error == TIMEBASE_E_TOO_LATE && timeline->is_drawing_on && search_can_be_drawn_on(&found))
        return lookup_convert_beyond(timeline, found.newest, ticks, out);
    return error;
}

/* Update the index because of this error. If a segment is gone, others may be: read all of them. */
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
    /* The writer dropped it twice meanwhile, so it was among the oldest. */
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

/* By bisection of the conversion, so that the inverse agrees with it. */
static int first_tick(timebase_timeline *timeline, const struct timeline_span *span, int64_t utc_ns,
                      uint64_t *ticks)
{
    uint64_t low = 0, high = span->length - 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int64_t there_ns;
        int error = search_utc_at(timeline, span, middle, &there_ns);
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
    struct timeline_search found = search_utc(timeline, boot, utc_ns);
    int error = search_judge(&found);
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
    /* The writer dropped it twice meanwhile, so it was among the oldest. */
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
