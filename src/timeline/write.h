/* SPDX-License-Identifier: MIT */
/*
 * write: the writing side of a timeline, the history of published lines (spec/timeline.md). A
 * folder of segments of fixed records. One writer at a time is the caller's duty.
 */
#ifndef TIMELINE_WRITE_H
#define TIMELINE_WRITE_H

#include <stdint.h>

#include <timebase/page.h>

/* Why the line before a mark must not be drawn on past it. */
enum timeline_reason {
    TIMELINE_BEGIN = 1,      /* a writer began; of another boot perhaps */
    TIMELINE_DISRUPTION = 2, /* the counter's past is no guide to its future */
    TIMELINE_END = 3,        /* a writer ended in good order */
};

/* To be defined by the writer's implementation, here. */
struct timeline {
    int fd;
};

/*
 * Begin or go on with the timeline in a folder, which is made if it is missing. Beyond size_max
 * bytes, the oldest segment goes. Returns 0, TIMEBASE_E_INVALID, _PERMISSION or _FORMAT (the
 * folder holds something else).
 */
int timeline_open(struct timeline *timeline, const char *folder, uint64_t size_max, int counter_id);

/* Lines that were published at this tick. Returns 0, or an error; the next call tries again. */
int timeline_append(struct timeline *timeline, const struct timebase_lines *lines,
                    uint64_t published_ticks);

int timeline_mark(struct timeline *timeline, enum timeline_reason reason);

/* Bytes on disk. */
uint64_t timeline_size(const struct timeline *timeline);

void timeline_close(struct timeline *timeline);

#endif
