/* SPDX-License-Identifier: MIT */
#include "search.h"

/* The next older span of the boot, or of any; *left: those not looked at yet, at first all. */
static struct timeline_span *older_span(timebase_timeline *timeline, const uint8_t *boot,
                                        size_t *left)
{
    while (*left > 0) {
        struct timeline_span *span = &timeline->index.spans[--*left];
        if (boot == NULL || piece_is_of_boot(index_piece_of(&timeline->index, span), boot))
            return span;
    }
    return NULL;
}

static void note_place(timebase_timeline *timeline, struct timeline_search *found,
                       const struct timeline_span *span, bool is_after, bool is_before)
{
    if (found->newest == NULL)
        found->newest = span;
    if (!piece_is_of_same_counter(index_piece_of(&timeline->index, span),
                                  index_piece_of(&timeline->index, found->newest)))
        return;
    found->is_after_some = found->is_after_some || is_after;
    found->is_before_some = found->is_before_some || is_before;
}

struct timeline_search search_ticks(timebase_timeline *timeline, const uint8_t *boot,
                                    uint64_t ticks)
{
    struct timeline_search found = {NULL, 0, NULL, false, false};
    size_t left = timeline->index.span_count;
    for (struct timeline_span *span; (span = older_span(timeline, boot, &left)) != NULL;) {
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

int search_judge(const struct timeline_search *found)
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

bool search_may_be_of_newest(timebase_timeline *timeline, const struct timeline_search *found)
{
    return found->count == 1 && found->is_after_some && !found->is_before_some &&
        !piece_is_of_same_counter(index_piece_of(&timeline->index, found->span),
                                  index_piece_of(&timeline->index, found->newest));
}

bool search_can_be_drawn_on(const struct timeline_search *found)
{
    const unsigned harmless = 1u << TIMEBASE_TIMELINE_KILLED | 1u << TIMEBASE_TIMELINE_ENDED;
    return found->newest != NULL && (found->newest->after.reasons & ~harmless) == 0;
}

int search_utc_at(timebase_timeline *timeline, const struct timeline_span *span, uint64_t offset,
                  int64_t *utc_ns)
{
    struct timebase_instant instant;
    int error = lookup_convert(timeline, span, span->begin + offset, &instant);
    if (error == TIMEBASE_OK)
        *utc_ns = instant.utc_ns;
    return error;
}

/* UTC at the span's ends, kept. */
static int learn_utc(timebase_timeline *timeline, struct timeline_span *span)
{
    if (span->has_utc)
        return TIMEBASE_OK;
    int error = search_utc_at(timeline, span, 0, &span->first_utc_ns);
    if (error == TIMEBASE_OK)
        error = search_utc_at(timeline, span, span->length - 1, &span->last_utc_ns);
    span->has_utc = error == TIMEBASE_OK;
    return error;
}

struct timeline_search search_utc(timebase_timeline *timeline, const uint8_t *boot, int64_t utc_ns)
{
    struct timeline_search found = {NULL, 0, NULL, false, false};
    size_t left = timeline->index.span_count;
    for (struct timeline_span *span; (span = older_span(timeline, boot, &left)) != NULL;) {
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
