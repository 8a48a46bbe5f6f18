/* SPDX-License-Identifier: MIT */
/*
 * queue: which release comes next. Releases come in the order of their ready times. Of releases
 * that are ready at once, that of the unit declared first comes first. The queue holds each unit
 * once, with its next release.
 */
#ifndef CALENDAR_QUEUE_H
#define CALENDAR_QUEUE_H

#include "pattern.h"

struct queue {
    const struct pattern *patterns;
    uint32_t size;
    uint32_t heap[TIMEBASE_CALENDAR_UNITS]; /* units; none comes before the one at half its index */
    int64_t ready_ns[TIMEBASE_CALENDAR_UNITS]; /* by unit: of its next release */
    uint64_t number[TIMEBASE_CALENDAR_UNITS];  /* and which that is */
};

void queue_begin(struct queue *queue, const struct pattern *patterns, uint32_t units);

/* The unit whose release is next; not if the size is 0. */
static inline uint32_t queue_first(const struct queue *queue)
{
    return queue->heap[0];
}

/* That unit is done with so many of its releases, > 0. Leaves the queue after its last. */
void queue_advance(struct queue *queue, uint64_t releases);

#endif
