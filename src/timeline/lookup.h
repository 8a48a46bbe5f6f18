/* SPDX-License-Identifier: MIT */
/* lookup: finds the publication that a tick of a span belongs to, and converts the tick by it. */
#ifndef TIMELINE_LOOKUP_H
#define TIMELINE_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "index.h"

struct timebase_timeline {
    int folder;
    bool is_drawing_on;
    struct index index;
    bool has_segment; /* the segment read last stays open */
    struct timeline_segment segment;
    /* The publication used last, as a page, and for which ticks it was the newest. */
    bool has_page;
    const struct timeline_span *page_span;
    uint64_t page_from, page_length;
    struct timebase_page page;
};

/* A tick of the span. Returns 0, TIMEBASE_E_GAP (damaged there), _NOT_FOUND (dropped meanwhile). */
int lookup_convert(struct timebase_timeline *timeline, const struct timeline_span *span,
                   uint64_t ticks, struct timebase_instant *out);

/* Any tick, by the span's last publication. */
int lookup_convert_beyond(struct timebase_timeline *timeline, const struct timeline_span *span,
                          uint64_t ticks, struct timebase_instant *out);

/* Forget the open segment and the page; call it when the index changes. */
void lookup_forget(struct timebase_timeline *timeline);

#endif
