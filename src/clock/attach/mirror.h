/* SPDX-License-Identifier: MIT */
/*
 * mirror: a clock that follows somebody else's page by copies of it.
 *
 *     file ──look──► lines ──view──► cell.page    one line, for a lease: the inline reads
 *                          └───────► whole        all three: conversions, and readers that find
 *                                                 somebody else at the lock
 *
 * Both pages are latched and monotonic by themselves; where they overlap they show the same.
 */
#ifndef CLOCK_MIRROR_H
#define CLOCK_MIRROR_H

#include <stdint.h>

#include "clock/cell.h"
#include "shared_file.h"

struct mirror {
    struct timebase_page whole;
    int32_t is_followed; /* somebody has gone on with `whole` beyond the lease */
    /* The rest is for who has locked the cell. */
    struct timebase_lines lines; /* as copied last */
    uint64_t seq;                /* their number in the file; 0: no lines yet */
    uint64_t changed_ticks;      /* when another number was last seen */
    uint64_t lease_ticks;        /* when the lease of the last look runs out */
    uint64_t look_up_ticks;      /* when the path may be looked up again */
    uint64_t utc_step_count;     /* the page's counts */
    uint64_t late_count;
    uint64_t disruption_marker;
    int64_t last_utc_step_ns;
    struct shared_file file;
    const char *path;
    struct timebase_attachment attachment;
    struct clock_cell cell;
};

/* A zeroed mirror, of a path that stays; its cell is not locked yet. */
void mirror_begin(struct mirror *mirror, const char *path);

struct mirror *mirror_of(struct clock_cell *cell);

extern const struct clock_kind clock_attached;

#endif
