/* SPDX-License-Identifier: MIT */
/*
 * page_publisher: a writer that keeps a page in a file for others' processes, thousands of
 * publications a second, and keeps the lease: lines that have been published are published again
 * with another bound, and give way to new ones only when they have begun; new ones begin
 * PUBLISHER_LEAD_NS after they are first seen. So a tick means the same to all, even to a reader
 * with a copy as old as a lease, or to one that runs while this process does not.
 *
 * Monotonic time weaves around the counter's nominal pace by 400 ppm. In publication n all lines
 * have n in maxerror, 3n, in utc_maxerror, 4n, and in the upper half of the flags: a reader that
 * sees words of two publications knows.
 */
#ifndef INTERLEAVE_PAGE_PUBLISHER_H
#define INTERLEAVE_PAGE_PUBLISHER_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/page.h>

#define PUBLISHER_LEAD_NS 30000000

struct page_publisher {
    struct timebase_page *page;
    uint64_t frequency_hz;
    uint64_t published;
    uint64_t late;
    uint64_t random;
    uint64_t start_ticks; /* where time was start_ns */
    int64_t start_ns;
    struct timebase_lines lines;
};

/* Makes a file of one page, over whatever was there; NULL: errno says why not. */
struct timebase_page *page_publisher_map(const char *path);

/* On a zeroed page. */
void page_publisher_begin(struct page_publisher *publisher, struct timebase_page *page);

/* Publishes at this rate until *stop is not 0 or, if it is not 0, until deadline_ns of
 * CLOCK_MONOTONIC. Beats that were slept through are left out. */
void page_publisher_run(struct page_publisher *publisher, uint64_t per_second, const int *stop,
                        int64_t deadline_ns);

/* Is it one of its publications, whole? */
bool page_publisher_is_whole(const struct timebase_instant *instant);

int64_t page_publisher_mono_ns(void);

#endif
