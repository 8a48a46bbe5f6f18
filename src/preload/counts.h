/* SPDX-License-Identifier: MIT */
/*
 * counts: who asks for the time, how often, and what that costs, for `timebase exec --count`.
 *
 * TIMEBASE_PRELOAD_COUNT in the environment names a file of COUNTS_BYTES, which the command has made
 * and will read: python/timebase/exec/count.py knows the layout. It is mapped and shared with all children, so that
 * nothing is lost whatever becomes of a process. Beside it each program writes a copy of its
 * /proc/self/maps, by which addresses are told.
 */
#ifndef PRELOAD_COUNTS_H
#define PRELOAD_COUNTS_H

#include <stdint.h>

enum counted {
    COUNTED_CLOCK_GETTIME = 1,
    COUNTED_CLOCK_GETRES,
    COUNTED_GETTIMEOFDAY,
    COUNTED_TIMESPEC_GET,
    COUNTED_TIME,
    COUNTED_FTIME,
};

#define COUNTS_MAGIC UINT64_C(0x31746e756f636274) /* "tbcount1" */
#define COUNTS_SLOTS 8192

/* One function, clock and caller of one program. */
struct counts_slot {
    uint64_t key; /* of the other three; 0: free */
    uint64_t image_function; /* the program's number above, enum counted in the lowest 8 bits */
    int64_t clock;
    uint64_t caller;
    uint64_t calls;
    uint64_t ticks; /* all of these together */
};

struct counts_table {
    uint64_t magic;
    uint64_t images; /* programs that were started */
    uint64_t missed; /* calls that found no slot */
    uint64_t reserved[3];
    struct counts_slot slots[COUNTS_SLOTS];
};
#define COUNTS_BYTES sizeof(struct counts_table)

/* NULL: nothing is counted. */
extern struct counts_table *counts_table __attribute__((visibility("hidden")));

/* Before there are threads. NULL: nothing is to be counted. */
void counts_begin(const char *path);

/* The maps once more: libraries may have been opened since. */
void counts_end(void);

uint64_t counts_ticks(void);
void counts_add(enum counted function, int64_t clock, const void *caller, uint64_t begin_ticks);

/* The counter before a call; 0 where nothing is counted. */
static inline uint64_t counts_before(void)
{
    return __builtin_expect(counts_table != 0, 0) ? counts_ticks() : 0;
}

static inline void counts_after(uint64_t begin_ticks, enum counted function, int64_t clock,
                                const void *caller)
{
    if (__builtin_expect(begin_ticks != 0, 0))
        counts_add(function, clock, caller, begin_ticks);
}

#endif
