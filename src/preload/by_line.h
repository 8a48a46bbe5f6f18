/* SPDX-License-Identifier: MIT */
/*
 * by_line: a reading by a line. It is the way of nearly all readings, and their number is why this
 * library exists: so it is inlined where the program calls, and leaves all else to followed.c.
 */
#ifndef PRELOAD_BY_LINE_H
#define PRELOAD_BY_LINE_H

#include <timebase/attributes.h>

#include "followed.h"

#if defined(__x86_64__) || defined(__i386__)

#include <timebase/page.h>

#include "clock/counter/by_cpu_here.h"
#include "line.h"
#include "next.h"

/* Further CPUs are read from the kernel. A page of memory each 6, and only where they are used. */
#define BY_LINE_CPUS_MAX 1024
/* A line is at most so far ahead of its coarse clock: many ticks of the slowest kernel. */
#define BY_LINE_COARSE_MAX_NS 100000000
/* A clock without a coarse one: its line was made no longer ago, by CLOCK_MONOTONIC_COARSE. */
#define BY_LINE_AGE_MAX_NS 20000000

/* What has been told of a clock. */
struct told {
    uint64_t highest_ns;
    uint64_t epoch; /* counts its steps */
} __attribute__((aligned(64)));

/* Addressed without a detour: they are this library's own. */
#pragma GCC visibility push(hidden)
extern struct line by_line_lines[BY_LINE_CPUS_MAX][FOLLOWED_COUNT];
extern struct told by_line_told[FOLLOWED_COUNT];
/* This thread found the kernel's reading dear when it looked the last time: there may be lines. */
extern __thread bool by_line_is_likely;
#pragma GCC visibility pop

static inline bool by_line_has_coarse(enum followed which)
{
    return which == FOLLOWED_REALTIME || which == FOLLOWED_MONOTONIC;
}

static inline clockid_t by_line_witness(enum followed which)
{
    return which == FOLLOWED_REALTIME ? CLOCK_REALTIME_COARSE : CLOCK_MONOTONIC_COARSE;
}

/* No less than was told, by whichever thread: each adds its own to the one order of this word. */
static inline uint64_t by_line_tell(enum followed which, uint64_t ns)
{
    uint64_t *highest = &by_line_told[which].highest_ns;
    uint64_t told_ns = __atomic_load_n(highest, __ATOMIC_RELAXED);
    do {
        if (ns <= told_ns)
            return told_ns;
    } while (!__atomic_compare_exchange_n(highest, &told_ns, ns, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return ns;
}

/* The coarse clock was read first. At this moment the clock shows as much, at least. */
static inline bool by_line_is_plausible(enum followed which, const struct line_read *line,
                                        uint64_t coarse_ns, uint64_t ns)
{
    if (by_line_has_coarse(which))
        return ns - coarse_ns <= BY_LINE_COARSE_MAX_NS;
    return coarse_ns - line->coarse_ns <= BY_LINE_AGE_MAX_NS;
}

/* False: this CPU has no line for now, or it is of before a step, or not to be believed. */
TIMEBASE_PART bool by_line_read(enum followed which, uint64_t *ns)
{
    const struct told *told = &by_line_told[which];
    struct line_read line;
    unsigned cpu;
    if (!by_line_is_likely)
        return false;
    uint64_t coarse_ns = next_coarse_ns(by_line_witness(which));
    uint64_t ticks = by_cpu_here(&cpu);
    if (cpu >= BY_LINE_CPUS_MAX || !line_load(&by_line_lines[cpu][which], &line) ||
        !line_at(&line, ticks, ns) || line.epoch != timebase_page_word(&told->epoch) ||
        !by_line_is_plausible(which, &line, coarse_ns, *ns))
        return false;
    *ns = by_line_tell(which, *ns);
    return true;
}

#else

/* Processors whose counters agree by architecture have no lines. */
static inline __attribute__((always_inline)) bool by_line_read(enum followed which, uint64_t *ns)
{
    (void)which;
    (void)ns;
    return false;
}

#endif

#endif
