/* SPDX-License-Identifier: MIT */
/*
 * mirror: a clock that follows another process' page by copies of it.
 *
 *     file ──look──► lines ──view──► cell.page    one line, for a lease: the inline reads
 *                          └───────► whole        all three: conversions, and readers that find
 *                                                 somebody else at the lock
 *
 * Both pages are latched and monotonic by themselves; where they overlap they show the same.
 */
#ifndef CLOCK_MIRROR_H
#define CLOCK_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/cell.h"
#include "moved.h"
#include "shared_file.h"

/*
 * Beyond the lease, a reader that finds the lock taken goes on by `whole` (follow.c), and the
 * thread that has the lock begins above what such readers were told (show.c). Neither waits for the
 * other: they agree by one word on how far the old lines are followed:
 */
enum follow {
    FOLLOW_OPEN = 0,   /* nobody has followed since the last publication */
    FOLLOW_CLOCKS = 1, /* somebody was told the kernel's time, as the lines had parted from it */
    FOLLOW_LINES = 2,  /* somebody has followed the lines, up to now */
    FOLLOW_BOTH = 3,   /* both */
    FOLLOW_ASKED = 4,  /* the renewing thread asks: followers note it again */
    FOLLOW_TO_END = 5, /* nobody has followed; from now on not past the lease's end */
    FOLLOW_TO_STOP =
        6, /* somebody has followed; from now on not past stop_ticks and stop_mono_ns */
};

struct mirror {
    struct timebase_page whole; /* its refresh_ticks: when the writer's lines wanted renewal */
    uint32_t follow;            /* enum follow */
    uint64_t stop_ticks;
    uint64_t stop_mono_ns;
    uint64_t mono_offset; /* attachment.mono_offset_ns, as a word for followers */
    /* The rest is for the thread that has locked the cell. */
    struct timebase_lines lines; /* as copied last */
    uint64_t refresh_ticks;      /* of these */
    uint64_t seq;                /* their number in the file; 0: no lines yet */
    uint64_t changed_ticks;      /* when another number was last seen */
    uint64_t lease_ticks;        /* when the lease of the last look runs out */
    uint64_t look_up_ticks;      /* when the path may be looked up again */
    uint64_t utc_step_count;     /* the page's counts */
    uint64_t late_count;
    uint64_t disruption_marker;
    int64_t last_utc_step_ns;
    int counter_id;    /* whose ticks the lines take */
    bool is_corrected; /* by the table behind the page: by_cpu_shared.h */
    struct shared_file file;
    struct moved moved;
    const char *path;
    struct timebase_attachment attachment;
    struct clock_cell cell;
};

/* A zeroed mirror, of a path that stays; its cell is not locked yet. */
void mirror_begin(struct mirror *mirror, const char *path);

struct mirror *mirror_of(struct clock_cell *cell);

extern const struct clock_kind clock_attached;

#endif
