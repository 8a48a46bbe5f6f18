/* SPDX-License-Identifier: MIT */
/* publish: the only code that writes a page. One writer at a time is the caller's duty. */
#ifndef PUBLISH_PUBLISH_H
#define PUBLISH_PUBLISH_H

#include <timebase/page.h>

/* The words that stay, in a zeroed page: no lines yet, seq is 0. */
void publish_begin(struct timebase_page *page, int counter_id);

/*
 * Make the lines the ones that readers follow; see the protocol in page.h. Nobody accepts them, or
 * the lines before, with a refresh_ticks that is larger than their own.
 */
void publish_lines(struct timebase_page *page, const struct timebase_lines *lines,
                   uint64_t refresh_ticks);

/*
 * What stands in the page while the number changes: no larger than either refresh_ticks. Nor is
 * what a machine of 32 bits makes of halves of it and of either of them.
 */
uint64_t publish_refresh_between(uint64_t a, uint64_t b);

/* No lines any more: readers take the slow path. Not while they read: timebase_clock_restart. */
void publish_clear(struct timebase_page *page);

/* A consistent copy of the lines for the writer itself; false if there are none yet. */
bool publish_read_back(const struct timebase_page *page, struct timebase_lines *lines);

/* A word beside the pages, for readers without the lock: timebase_page_word(). */
void publish_word(uint64_t *word, uint64_t value);

/* Add 1 to one of the page's counts. */
void publish_count(uint64_t *count);

#endif
