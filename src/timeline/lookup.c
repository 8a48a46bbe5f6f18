/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <fcntl.h>

#include <timebase/error.h>

/* A publication is within so many records of its place at a steady pace. */
#define NEAR 8

void lookup_forget(struct timebase_timeline *timeline)
{
    if (timeline->has_segment)
        segment_close(&timeline->segment);
    timeline->has_segment = false;
    timeline->has_page = false;
}

static int open_segment(struct timebase_timeline *timeline, uint32_t number)
{
    if (timeline->has_segment && timeline->segment.number == number)
        return TIMEBASE_OK;
    lookup_forget(timeline);
    int error = segment_open(&timeline->segment, timeline->folder, number, O_RDONLY);
    timeline->has_segment = error == TIMEBASE_OK;
    return error > 0 ? TIMEBASE_E_GAP : error;
}

/* The piece of the span whose publications the tick comes after. */
static size_t find_piece(const struct index *index, const struct timeline_span *span,
                         uint64_t offset)
{
    size_t low = span->first, high = span->last;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (index->pieces[middle].first_published - span->begin <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Ticks from the span's begin to a publication. False if the record is no whole line. */
static bool get_offset(struct timeline_segment *segment, uint32_t at, uint64_t begin,
                       uint64_t *offset)
{
    const uint8_t *record = segment_record(segment, at);
    if (record == NULL)
        return false;
    unsigned type = record_head(record).type;
    *offset = record_published_ticks(record) - begin;
    return type == RECORD_LINES || type == RECORD_LINE;
}

/* Records among which the one looked for is. */
struct record_range {
    uint32_t low, high;
};

/* Divides the range at a record, or at the next whole one before it. */
static void narrow(struct timeline_segment *segment, struct record_range *range, uint32_t at,
                   uint64_t begin, uint64_t offset)
{
    uint32_t middle = at;
    uint64_t found;
    bool is_whole = get_offset(segment, at, begin, &found);
    while (!is_whole && --at > range->low)
        is_whole = get_offset(segment, at, begin, &found);
    if (!is_whole || found <= offset)
        range->low = middle;
    else
        range->high = at - 1;
}

/*
 * Publications come at a steady pace: the record is near its place if all were equally far apart.
 */
static void narrow_by_pace(struct timeline_segment *segment, struct record_range *range,
                           const struct piece *piece, uint64_t begin, uint64_t offset)
{
    uint64_t first = piece->first_published - begin, last = piece->last_published - begin;
    if (offset < first || offset > last || first == last)
        return;
    double share = (double)(offset - first) / (double)(last - first);
    uint32_t guess = range->low + (uint32_t)(share * (range->high - range->low));
    if (guess > range->low + NEAR)
        narrow(segment, range, guess - NEAR, begin, offset);
    if (guess + NEAR > range->low && guess + NEAR <= range->high)
        narrow(segment, range, guess + NEAR, begin, offset);
}

/* The last record of the piece that was published at `offset` or before; damaged ones are none. */
static uint32_t find_record(struct timeline_segment *segment, const struct piece *piece,
                            uint64_t begin, uint64_t offset)
{
    struct record_range range = {piece->first, piece->last};
    narrow_by_pace(segment, &range, piece, begin, offset);
    while (range.low < range.high)
        narrow(segment, &range, range.high - (range.high - range.low) / 2, begin, offset);
    while (range.low > piece->first && segment_record(segment, range.low) == NULL)
        range.low--;
    return range.low;
}

/* How long the page that was loaded from record `at` was the newest one, in ticks. */
static uint64_t find_length(struct timebase_timeline *timeline, const struct timeline_span *span,
                            size_t piece, uint32_t at)
{
    const struct piece *in = &timeline->index.pieces[piece];
    uint64_t from = timeline->page_from - span->begin, next;
    if (at >= in->last)
        next = piece < span->last ? in[1].first_published - span->begin : span->length;
    else if (!get_offset(&timeline->segment, at + 1, span->begin, &next))
        /* It cannot be read; within the lease its lines had not begun. */
        next = from + in->lease_ticks + 1;
    return next - from;
}

/* The timeline itself knows how long a publication holds. Of the errors it has the bounds alone. */
static struct timebase_validity validity_of(const struct timebase_lines *lines)
{
    uint64_t rate = (uint64_t)lines->after.drift_rate + lines->after.slew_rate;
    struct timebase_validity validity = {0};
    validity.silent_ticks = validity.void_ticks = TIMEBASE_PAGE_NEVER;
    validity.before_esterror_ns = lines->before.maxerror_ns;
    validity.slew_esterror_ns = lines->slew.maxerror_ns;
    validity.after_esterror_ns = lines->after.maxerror_ns;
    validity.esterror_rate = rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
    return validity;
}

static bool set_page(struct timebase_timeline *timeline, const struct timebase_lines *lines)
{
    struct timebase_page *page = &timeline->page;
    page->seq = 2;
    page->magic = TIMEBASE_PAGE_MAGIC;
    page->size = TIMEBASE_PAGE_SIZE;
    page->version = TIMEBASE_PAGE_VERSION;
    page->copy[0] = *lines;
    page->copy[0].validity = validity_of(lines);
    return timebase_page_validate(page) == TIMEBASE_OK;
}

/* The page as it was when the publication that record `at` belongs to was the newest. */
static int load_page(struct timebase_timeline *timeline, const struct timeline_span *span,
                     uint32_t at)
{
    struct timeline_publication publication;
    timeline->has_page = false;
    if (!segment_publication(&timeline->segment, at, &publication) ||
        !set_page(timeline, &publication.lines))
        return TIMEBASE_E_GAP;
    timeline->has_page = true;
    timeline->page_span = span;
    timeline->page_from = publication.published_ticks;
    return TIMEBASE_OK;
}

static int find_page(struct timebase_timeline *timeline, const struct timeline_span *span,
                     uint64_t ticks)
{
    uint64_t offset = ticks - span->begin;
    size_t piece = find_piece(&timeline->index, span, offset);
    const struct piece *in = &timeline->index.pieces[piece];
    int error = open_segment(timeline, in->segment);
    if (error != TIMEBASE_OK)
        return error;
    uint32_t at = find_record(&timeline->segment, in, span->begin, offset);
    error = load_page(timeline, span, at);
    if (error != TIMEBASE_OK)
        return error;
    timeline->page_length = find_length(timeline, span, piece, at);
    bool is_within = ticks - timeline->page_from < timeline->page_length;
    timeline->has_page = is_within;
    return is_within ? TIMEBASE_OK : TIMEBASE_E_GAP;
}

static bool has_page_for(const struct timebase_timeline *timeline, const struct timeline_span *span,
                         uint64_t ticks)
{
    return timeline->has_page && timeline->page_span == span &&
        ticks - timeline->page_from < timeline->page_length;
}

int lookup_convert(struct timebase_timeline *timeline, const struct timeline_span *span,
                   uint64_t ticks, struct timebase_instant *out)
{
    if (!has_page_for(timeline, span, ticks)) {
        int error = find_page(timeline, span, ticks);
        if (error != TIMEBASE_OK)
            return error;
    }
    return timebase_page_convert(&timeline->page, ticks, out) ? TIMEBASE_OK : TIMEBASE_E_GAP;
}

int lookup_convert_beyond(struct timebase_timeline *timeline, const struct timeline_span *span,
                          uint64_t ticks, struct timebase_instant *out)
{
    const struct piece *last = &timeline->index.pieces[span->last];
    int error = open_segment(timeline, last->segment);
    if (error == TIMEBASE_OK)
        error = load_page(timeline, span, last->last);
    if (error != TIMEBASE_OK)
        return error;
    timeline->page_length = 0; /* for these ticks nothing is kept */
    return timebase_page_convert(&timeline->page, ticks, out) ? TIMEBASE_OK : TIMEBASE_E_GAP;
}
