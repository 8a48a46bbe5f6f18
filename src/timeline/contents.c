/* SPDX-License-Identifier: MIT */
/* contents: what a timeline holds, for people: boots, gaps, damage. */
#include <string.h>

#include <timebase/timeline.h>

#include "lookup.h"

/* 0 where the record cannot be read. */
static int64_t utc_of(timebase_timeline *timeline, const struct timeline_span *span, uint64_t ticks)
{
    struct timebase_instant instant;
    return lookup_convert(timeline, span, ticks, &instant) == TIMEBASE_OK ? instant.utc_ns : 0;
}

static uint64_t last_of(const struct timeline_span *span)
{
    return span->begin + span->length - 1;
}

static bool is_followed_by(const timebase_timeline *timeline, const struct timeline_span *span,
                           const struct timeline_span *next)
{
    const struct index *index = &timeline->index;
    return piece_is_of_same_counter(index_piece_of(index, span), index_piece_of(index, next));
}

/* 0, or why the folder cannot be read: then what it holds is unknown, which is not nothing. */
static int look_again(timebase_timeline *timeline)
{
    if (!index_is_outdated(&timeline->index, timeline->folder))
        return TIMEBASE_OK;
    lookup_forget(timeline);
    return index_update(&timeline->index, timeline->folder);
}

static struct timebase_timeline_boot describe_boot(timebase_timeline *timeline,
                                                   const struct timeline_span *first,
                                                   const struct timeline_span *last)
{
    struct timebase_timeline_boot boot;
    const struct piece *piece = index_piece_of(&timeline->index, first);
    memcpy(boot.id, piece->boot, sizeof(boot.id));
    boot.counter_id = piece->counter_id;
    boot.gap_count = (uint32_t)(last - first);
    boot.first_ticks = first->begin;
    boot.last_ticks = last_of(last);
    boot.first_utc_ns = utc_of(timeline, first, first->begin);
    boot.last_utc_ns = utc_of(timeline, last, last_of(last));
    return boot;
}

TIMEBASE_API int64_t timebase_timeline_boots(timebase_timeline *timeline,
                                             struct timebase_timeline_boot *boots, size_t room)
{
    if (timeline == NULL || (boots == NULL && room > 0))
        return TIMEBASE_E_INVALID;
    int error = look_again(timeline);
    if (error != TIMEBASE_OK)
        return error;
    const struct timeline_span *spans = timeline->index.spans;
    size_t count = 0, first = 0;
    for (size_t i = 0; i < timeline->index.span_count; i++) {
        bool is_last = i + 1 == timeline->index.span_count ||
            !is_followed_by(timeline, &spans[i], &spans[i + 1]);
        if (!is_last)
            continue;
        if (count < room)
            boots[count] = describe_boot(timeline, &spans[first], &spans[i]);
        count++;
        first = i + 1;
    }
    return (int64_t)count;
}

/* Of several reasons the one that matters most. */
static int reason_of(unsigned reasons)
{
    static const int by_weight[] = {TIMEBASE_TIMELINE_DISRUPTED, TIMEBASE_TIMELINE_LOST,
                                    TIMEBASE_TIMELINE_UNREADABLE, TIMEBASE_TIMELINE_ENDED,
                                    TIMEBASE_TIMELINE_KILLED};
    for (size_t i = 0; i < sizeof(by_weight) / sizeof(by_weight[0]); i++)
        if (reasons & 1u << by_weight[i])
            return by_weight[i];
    return TIMEBASE_TIMELINE_UNREADABLE;
}

static struct timebase_timeline_gap describe_gap(timebase_timeline *timeline,
                                                 const struct timeline_span *span,
                                                 const struct timeline_span *next)
{
    struct timebase_timeline_gap gap;
    const struct piece *piece = index_piece_of(&timeline->index, span);
    memcpy(gap.boot, piece->boot, sizeof(gap.boot));
    gap.counter_id = piece->counter_id;
    gap.reason = reason_of(span->after.reasons);
    gap.from_ticks = span->begin + span->length;
    gap.to_ticks = next->begin;
    gap.from_utc_ns = utc_of(timeline, span, last_of(span));
    gap.to_utc_ns = utc_of(timeline, next, next->begin);
    return gap;
}

TIMEBASE_API int64_t timebase_timeline_gaps(timebase_timeline *timeline,
                                            struct timebase_timeline_gap *gaps, size_t room)
{
    if (timeline == NULL || (gaps == NULL && room > 0))
        return TIMEBASE_E_INVALID;
    int error = look_again(timeline);
    if (error != TIMEBASE_OK)
        return error;
    const struct timeline_span *spans = timeline->index.spans;
    size_t count = 0;
    for (size_t i = 0; i + 1 < timeline->index.span_count; i++) {
        if (!is_followed_by(timeline, &spans[i], &spans[i + 1]))
            continue;
        if (count < room)
            gaps[count] = describe_gap(timeline, &spans[i], &spans[i + 1]);
        count++;
    }
    return (int64_t)count;
}

TIMEBASE_API int64_t timebase_timeline_damages(timebase_timeline *timeline,
                                               struct timebase_timeline_damage *damages,
                                               size_t room)
{
    if (timeline == NULL || (damages == NULL && room > 0))
        return TIMEBASE_E_INVALID;
    int error = look_again(timeline);
    if (error != TIMEBASE_OK)
        return error;
    size_t count = timeline->index.damage_count;
    for (size_t i = 0; i < count && i < room; i++)
        damages[i] = timeline->index.damages[i];
    return (int64_t)count;
}

TIMEBASE_API const char *timebase_timeline_reason_name(int reason)
{
    switch (reason) {
    case TIMEBASE_TIMELINE_KILLED:
        return "killed";
    case TIMEBASE_TIMELINE_DISRUPTED:
        return "disrupted";
    case TIMEBASE_TIMELINE_ENDED:
        return "ended";
    case TIMEBASE_TIMELINE_LOST:
        return "lost";
    case TIMEBASE_TIMELINE_UNREADABLE:
        return "unreadable";
    default:
        return "unknown";
    }
}
