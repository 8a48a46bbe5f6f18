/* SPDX-License-Identifier: MIT */
/*
 * Readers may have the file mapped or may read it. Either way they see the writes in the order in
 * which they were made: the kernel holds the file's lock for each, and so orders what one of them
 * stored before what the next one stores; this takes the place of (B), (D) and (E) in page.h.
 *
 * The number is eight bytes, and a mapped reader may see the kernel in the middle of copying them.
 * The lowest bit names the copy, so a single byte, old or new, decides, and either copy is whole at
 * that moment. A reader seldom sees the same mixture twice in a row. If it does, both looks fell
 * into this one write, during which no copy changes.
 */
#include "store.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "clock/page/publish.h"

#define COUNTS_OFFSET offsetof(struct timebase_page, refresh_ticks)
#define COUNTS_SIZE (offsetof(struct timebase_page, copy) - COUNTS_OFFSET)

/* All of these bytes to this place of the file. */
static int store_bytes(int fd, const char *bytes, size_t size, size_t offset)
{
    while (size > 0) {
        ssize_t written = pwrite(fd, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            errno = ENOSPC;
        if (written <= 0)
            return -1;
        bytes += written;
        offset += (size_t)written;
        size -= (size_t)written;
    }
    return 0;
}

/* These bytes of the page to the same place of the file. */
static int store(int fd, const struct timebase_page *page, size_t offset, size_t size)
{
    return store_bytes(fd, (const char *)page + offset, size, offset);
}

int store_counts(int fd, const struct timebase_page *page)
{
    return store(fd, page, COUNTS_OFFSET, COUNTS_SIZE);
}

/* Stores a refresh_ticks that is right with the present lines and with the new ones. */
static int store_refresh_between(int fd, const struct timebase_page *present,
                                 const struct timebase_page *page)
{
    struct timebase_page between = {0};
    between.refresh_ticks = publish_refresh_between(present->refresh_ticks, page->refresh_ticks);
    return store(fd, &between, offsetof(struct timebase_page, refresh_ticks),
                 sizeof(page->refresh_ticks));
}

int store_publication(int fd, const struct timebase_page *present,
                      const struct timebase_page *page)
{
    size_t copy = (size_t)(timebase_page_word(&page->seq) & 1);
    size_t offset = offsetof(struct timebase_page, copy) + copy * sizeof(page->copy[0]);
    if (store(fd, page, offset, sizeof(page->copy[0])) != 0 ||
        store_refresh_between(fd, present, page) != 0 ||
        store(fd, page, offsetof(struct timebase_page, seq), sizeof(page->seq)) != 0)
        return -1;
    return store_counts(fd, page);
}

int store_whole(int fd, const struct timebase_page *page)
{
    return store(fd, page, 0, sizeof(*page));
}

int store_behind(int fd, const void *bytes, size_t at, size_t size)
{
    return store_bytes(fd, (const char *)bytes + at, size, TIMEBASE_PAGE_SIZE + at);
}
