/* SPDX-License-Identifier: MIT */
/*
 * store: a page in a file, for processes that share it. The page itself stays in the writer's
 * memory, so truncating the file cannot kill the writer. After each publication the writer writes
 * what has changed to the file, in the order of the protocol in page.h.
 */
#ifndef DAEMON_STORE_H
#define DAEMON_STORE_H

#include <timebase/page.h>

/*
 * The newest publication of *page, into a file that holds *present, the one before it. Four writes,
 * each of which ends before the next begins: the lines, a refresh_ticks fit for both, the number,
 * refresh_ticks and the counts. If the writer is killed before the third, readers keep the previous
 * publication. Returns 0, or -1 and errno.
 */
int store_publication(int fd, const struct timebase_page *present,
                      const struct timebase_page *page);

/* All of the page, into a file that nobody reads yet. Returns 0, or -1 and errno. */
int store_whole(int fd, const struct timebase_page *page);

/* These bytes of what lies behind the page. One write, which ends before the next begins. Returns 0,
 * or -1 and errno. */
int store_behind(int fd, const void *bytes, size_t at, size_t size);

/* The counts alone: they take no part in the protocol. Returns 0, or -1 and errno. */
int store_counts(int fd, const struct timebase_page *page);

#endif
