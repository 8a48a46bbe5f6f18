/* SPDX-License-Identifier: MIT */
#include "sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t *sample_room(unsigned size)
{
    uint64_t *ticks = calloc(size + 1, sizeof(*ticks));
    if (ticks == NULL)
        exit(2);
    return ticks;
}

struct sample sample_of(unsigned size)
{
    return (struct sample){0, sample_room(size), sample_room(size)};
}

void sample_note(struct sample *sample, uint64_t off, uint64_t half)
{
    sample->off[sample->count] = off;
    sample->half[sample->count++] = half;
}

static int by_size(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

void sample_show_quantiles(const char *name, uint64_t *ticks, unsigned count)
{
    if (count == 0)
        return;
    qsort(ticks, count, sizeof(*ticks), by_size);
    printf("%s: p50 %" PRIu64 ", p90 %" PRIu64 ", p99 %" PRIu64 ", most %" PRIu64 " of %u\n", name,
           ticks[count / 2], ticks[count / 10 * 9], ticks[count / 100 * 99], ticks[count - 1],
           count);
}

void sample_show(const struct sample *sample)
{
    sample_show_quantiles("estimates off by", sample->off, sample->count);
    sample_show_quantiles("half-widths", sample->half, sample->count);
}
