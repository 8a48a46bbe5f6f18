/* SPDX-License-Identifier: MIT */
/*
 * moment: the kernel's clocks beside the counter. A reader compares overdue lines with them: the
 * machine may have slept while its counter ran, or the counter may have stopped.
 */
#ifndef CLOCK_MOMENT_H
#define CLOCK_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/page.h>

struct moment {
    uint64_t ticks_before;
    uint64_t ticks_after;
    int64_t mono_ns; /* CLOCK_MONOTONIC here, somewhere between the two */
    int64_t utc_ns;  /* CLOCK_REALTIME, within error_ns after it */
    uint64_t error_ns;
};

/* False if the clocks cannot be read. */
bool moment_look(struct moment *moment);

/*
 * Are the lines further from the clocks than their bound and slewing explain? mono_offset_ns:
 * CLOCK_MONOTONIC here - the lines'.
 */
bool moment_has_parted(const struct moment *moment, const struct timebase_lines *lines,
                       int64_t mono_offset_ns);

/* The latest monotonic time that lines can tell of this moment if they have not parted. */
int64_t moment_latest_ns(const struct moment *moment, const struct timebase_lines *lines,
                         int64_t mono_offset_ns);

/* Is CLOCK_REALTIME where the lines have it, to within their bound of it and nothing more? */
bool moment_agrees_in_utc(const struct moment *moment, const struct timebase_lines *lines);

/*
 * A line of the reader's own, on the clocks, for the time until the writer has seen them: at the
 * pace of its lines, UNRELIABLE, and no promise about true UTC. UNKNOWN lines, which have expired,
 * stay so. It never lies below the clocks.
 */
struct timebase_lines moment_lines(const struct moment *moment, const struct timebase_lines *lines,
                                   int64_t mono_offset_ns);

#endif
