/* SPDX-License-Identifier: MIT */
/* queue: a binary heap. Ready times are taken from the release's number each time. */
#include "queue.h"

static bool is_before(const struct queue *queue, uint32_t a, uint32_t b)
{
    if (queue->ready_ns[a] != queue->ready_ns[b])
        return queue->ready_ns[a] < queue->ready_ns[b];
    return a < b;
}

static void sift_down(struct queue *queue, uint32_t place)
{
    uint32_t unit = queue->heap[place];
    for (uint32_t child = 2 * place + 1; child < queue->size; child = 2 * place + 1) {
        if (child + 1 < queue->size && is_before(queue, queue->heap[child + 1], queue->heap[child]))
            child++;
        if (is_before(queue, unit, queue->heap[child]))
            break;
        queue->heap[place] = queue->heap[child];
        place = child;
    }
    queue->heap[place] = unit;
}

void queue_begin(struct queue *queue, const struct pattern *patterns, uint32_t units)
{
    queue->patterns = patterns;
    queue->size = 0;
    for (uint32_t i = 0; i < units; i++) {
        queue->ready_ns[i] = patterns[i].ready_ns;
        queue->number[i] = 0;
        if (patterns[i].count > 0)
            queue->heap[queue->size++] = i;
    }
    for (uint32_t place = queue->size / 2; place-- > 0;)
        sift_down(queue, place);
}

void queue_advance(struct queue *queue, uint64_t releases)
{
    uint32_t unit = queue->heap[0];
    const struct pattern *pattern = &queue->patterns[unit];
    queue->number[unit] += releases;
    if (queue->number[unit] < pattern->count)
        queue->ready_ns[unit] = pattern_ready(pattern, queue->number[unit]);
    else
        queue->heap[0] = queue->heap[--queue->size];
    if (queue->size > 0)
        sift_down(queue, 0);
}
