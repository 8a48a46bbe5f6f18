/* SPDX-License-Identifier: MIT */
/* publish: the only code that writes a page. One writer at a time is the caller's duty. */
#ifndef PUBLISH_PUBLISH_H
#define PUBLISH_PUBLISH_H

#include <timebase/page.h>

/* The words that stay, in a zeroed page: no lines yet, seq is 0. Over corrected ticks it says so. */
void publish_begin(struct timebase_page *page, int counter_id);

/*
 * Make the lines the ones that readers follow; see the protocol in page.h. No reader accepts these
 * lines, or the previous ones, with a larger refresh_ticks than their own.
 */
void publish_lines(struct timebase_page *page, const struct timebase_lines *lines,
                   uint64_t refresh_ticks);

/*
 * The refresh_ticks that stands in the page while the number changes. It is no larger than a or b;
 * nor is any word that a 32-bit machine reads as one half of it and one half of a or b.
 */
uint64_t publish_refresh_between(uint64_t a, uint64_t b);

/*
 * Take the lines away: readers take the slow path. Nobody may read meanwhile, as for
 * timebase_clock_restart().
 */
void publish_clear(struct timebase_page *page);

/* A consistent copy of the lines for the writer itself; false if there are none yet. */
bool publish_read_back(const struct timebase_page *page, struct timebase_lines *lines);

/* A word beside the pages, for readers without the lock: timebase_page_word(). */
void publish_word(uint64_t *word, uint64_t value);

/* Add 1 to one of the page's counts. */
void publish_count(uint64_t *count);

#endif
