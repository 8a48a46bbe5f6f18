/* SPDX-License-Identifier: MIT */
/* A build without timelines: it says so, and keeps none. */
#include "write.h"

#include <timebase/error.h>

int timeline_open(struct timeline *timeline, const char *folder, uint64_t size_max, int counter_id)
{
    (void)timeline, (void)folder, (void)size_max, (void)counter_id;
    return TIMEBASE_E_UNSUPPORTED;
}

int timeline_append(struct timeline *timeline, const struct timebase_lines *lines,
                    uint64_t published_ticks)
{
    (void)timeline, (void)lines, (void)published_ticks;
    return TIMEBASE_E_UNSUPPORTED;
}

int timeline_mark(struct timeline *timeline, enum timeline_reason reason)
{
    (void)timeline, (void)reason;
    return TIMEBASE_E_UNSUPPORTED;
}

uint64_t timeline_size(const struct timeline *timeline)
{
    (void)timeline;
    return 0;
}

void timeline_close(struct timeline *timeline)
{
    (void)timeline;
}
