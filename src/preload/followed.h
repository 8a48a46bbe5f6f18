/* SPDX-License-Identifier: MIT */
/*
 * followed: the kernel's clocks by the counter, where the kernel's own reading is dear.
 *
 * Each CPU has a line for each clock (line.h), made of a reading of this clock on this CPU. So the
 * counters of two CPUs need not agree. What is told is never below what was told before, by whatever
 * CPU: a word for each clock has the highest. A line is not used
 *
 *     after LINE_WINDOW_NS;
 *     if the kernel's coarse clock, which costs no counter, is ahead of it: the counter stood still;
 *     on a CPU whose counter has lost time before, for a second, the next time for two, and so on;
 *     if the clock was stepped since.
 *
 * Then the kernel is asked, and a new line begins. No function here waits, locks or allocates: they
 * may be called by any thread at any time, in signal handlers and in a child of fork or vfork.
 */
#ifndef PRELOAD_FOLLOWED_H
#define PRELOAD_FOLLOWED_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* So many calls of a thread go to the kernel at once before it is looked at again. */
#define FOLLOWED_CHEAP_CALLS 4096

enum followed {
    FOLLOWED_REALTIME,
    FOLLOWED_MONOTONIC,
    FOLLOWED_RAW,
    FOLLOWED_BOOTTIME,
    FOLLOWED_TAI,
    FOLLOWED_COUNT,
    FOLLOWED_NOT = -1,
};

/* Why the kernel's clocks are (not) followed, in this process. */
enum followed_mode {
    FOLLOWED_OFF,    /* not decided yet, or the environment says so */
    FOLLOWED_NEVER,  /* this processor's counter cannot be read, or may stop */
    FOLLOWED_IF_DEAR, /* the usual one: while the kernel's own reading is dear */
    FOLLOWED_ALWAYS, /* the environment says so: for tests */
};

/* Decides, once, before there are threads. `word`: "auto", "kernel", "always" or NULL. */
void followed_begin(const char *word);
enum followed_mode followed_mode(void);

/* Which of them a clock of clock_gettime() is. */
static inline enum followed followed_of(clockid_t id)
{
    switch (id) {
    case CLOCK_REALTIME:
        return FOLLOWED_REALTIME;
    case CLOCK_MONOTONIC:
        return FOLLOWED_MONOTONIC;
    case CLOCK_MONOTONIC_RAW:
        return FOLLOWED_RAW;
    case CLOCK_BOOTTIME:
        return FOLLOWED_BOOTTIME;
    case CLOCK_TAI:
        return FOLLOWED_TAI;
    default:
        return FOLLOWED_NOT;
    }
}

#pragma GCC visibility push(hidden)
/* What is left of them to this thread, where nothing is gained. */
extern __thread unsigned followed_cheap_calls;
/* When a line was last drawn, in seconds of CLOCK_MONOTONIC_COARSE and 1; 0: so long ago that what
 * it told is no longer ahead of the kernel's clock. */
extern unsigned followed_drawn_sec;
#pragma GCC visibility pop

/* Takes one of them, if any is left. Those that a signal handler takes meanwhile are left again: a
 * count that is taken off where it lies could go below 0. */
static inline bool followed_take_cheap_call(void)
{
    unsigned left = __atomic_load_n(&followed_cheap_calls, __ATOMIC_RELAXED);
    if (left == 0)
        return false;
    __atomic_store_n(&followed_cheap_calls, left - 1, __ATOMIC_RELAXED);
    return true;
}

/* May this call go to the kernel at once? Asked once a call: it takes one of them. */
static inline bool followed_stands_aside(void)
{
    return __atomic_load_n(&followed_drawn_sec, __ATOMIC_RELAXED) == 0 &&
        followed_take_cheap_call();
}

/* The clock in nanoseconds, by the counter or by the kernel. False if it must be asked for otherwise:
 * nothing is followed, or the kernel refuses. errno stays. */
bool followed_read(enum followed which, uint64_t *ns);

/* Of all that were not told by a line. */
struct followed_counts {
    uint64_t by_kernel; /* readings */
    uint64_t lost;      /* times that a counter lost time */
    uint64_t steps;     /* times that a clock was set back */
};
void followed_counts(struct followed_counts *out);

#endif
