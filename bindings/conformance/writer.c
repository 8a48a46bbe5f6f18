/* SPDX-License-Identifier: MIT */
/*
 * writer: a live writer for the torture tests of all languages. It makes the page's file and
 * publishes as fast as it can, each time another number of the law in law.h.
 *
 *     writer PATH SECONDS             ends by itself; so does the page's life: nothing expires
 *     writer --broken PATH SECONDS    without the protocol: it writes over the copy that seq names,
 *                                     half of it at a time, so that all that is read is torn. A
 *                                     reader's test that finds nothing torn here finds nothing
 *     writer --check PATH READS       the reader in C: so many readings, and what was wrong
 *
 * The writer prints "publishing" when the page has lines, and at the end how many it published. The
 * file is of 640 bytes, the page is valid by spec/page.md, and may be mapped read-only. (Its times
 * are none of this world: who attaches as a user does, by pread and with the test against
 * CLOCK_REALTIME, will refuse it. `pages` makes files for that.)
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <timebase.h>

#include "clock/page/publish.h"
#include "law.h"

#define LOOKS 1000000 /* at a page at work, for one that is whole */
#define REFRESH_TICKS ((uint64_t)1 << 62)
#define NUMBERS_BETWEEN_LOOKS 256 /* at the clock: some 10 us */

static int64_t mono_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct timebase_page *map(const char *path, bool is_writer)
{
    int file = open(path, (is_writer ? O_RDWR | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0 || (is_writer && ftruncate(file, TIMEBASE_PAGE_SIZE) != 0))
        return NULL;
    void *page = mmap(NULL, TIMEBASE_PAGE_SIZE, PROT_READ | (is_writer ? PROT_WRITE : 0),
                      MAP_SHARED, file, 0);
    close(file);
    return page == MAP_FAILED ? NULL : (struct timebase_page *)page;
}

/*
 * What no writer may do: other words under the number that readers follow. Every second word of n,
 * so that the copy is at all times of n and n - 1: whoever reads must notice, whenever that is.
 */
static void overwrite(struct timebase_page *page, const struct timebase_lines *lines, uint64_t n)
{
    const uint64_t *from = (const uint64_t *)lines;
    uint64_t *to = (uint64_t *)&page->copy[timebase_page_word(&page->seq) & 1];
    for (size_t i = n & 1; i < sizeof *lines / sizeof *from; i += 2)
        timebase_page_set_word(&to[i], from[i]);
}

static void publish(struct timebase_page *page, uint64_t n, uint64_t t0, bool is_broken)
{
    struct timebase_lines lines;
    law_lines(n, t0, &lines);
    if (is_broken && n > LAW_FIRST)
        overwrite(page, &lines, n);
    else
        publish_lines(page, &lines, REFRESH_TICKS - n);
}

static struct timebase_page *begin(const char *path)
{
    struct timebase_page *page = map(path, true);
    if (page == NULL)
        return NULL;
    memset(page, 0, TIMEBASE_PAGE_SIZE);
    publish_begin(page, timebase_counter_id());
    /* Some ms ago, so that no CPU's counter is behind it. */
    publish_word(&page->disruption_marker, timebase_page_ticks(1) - (1 << 24));
    return page;
}

static int run(const char *path, double seconds, bool is_broken)
{
    struct timebase_page *page = begin(path);
    if (page == NULL) {
        fprintf(stderr, "writer: %s: %s\n", path, strerror(errno));
        return 1;
    }
    int64_t end_ns = mono_ns() + (int64_t)(seconds * 1e9);
    uint64_t t0 = timebase_page_word(&page->disruption_marker), n = LAW_FIRST;
    publish(page, n, t0, is_broken);
    if (is_broken)
        publish(page, ++n, t0, is_broken);
    puts("publishing");
    fflush(stdout);
    while (mono_ns() < end_ns && n < LAW_LAST)
        for (int i = 0; i < NUMBERS_BETWEEN_LOOKS; i++)
            publish(page, ++n, t0, is_broken);
    printf("%" PRIu64 " publications\n", n - LAW_FIRST + 1);
    return 0;
}

struct found {
    uint64_t now, at, none, torn, backwards;
    uint64_t newest;
    int64_t latest_ns; /* of now */
};

static void judge(struct found *found, const struct timebase_instant *seen, uint64_t t0)
{
    struct timebase_instant law;
    uint64_t n = (uint64_t)seen->utc_ns - (uint64_t)seen->mono_ns;
    law_instant(n, seen->ticks - t0, &law);
    bool is_whole = seen->mono_ns == law.mono_ns && seen->maxerror_ns == law.maxerror_ns &&
        seen->utc_maxerror_ns == law.utc_maxerror_ns && seen->esterror_ns == law.esterror_ns &&
        seen->flags == law.flags;
    found->torn += !is_whole;
    found->backwards += is_whole && n < found->newest;
    if (is_whole)
        found->newest = n;
}

static void look(struct found *found, const struct timebase_page *page, uint64_t i, uint64_t t0)
{
    struct timebase_instant seen;
    if (i % 2 == 0) {
        if (!timebase_page_read(page, 1, TIMEBASE_WANT_ALL, &seen)) {
            found->none++; /* a publication fell in between: a reader tries again */
            return;
        }
        found->now++;
        judge(found, &seen, t0);
        found->backwards += seen.mono_ns < found->latest_ns;
        found->latest_ns = seen.mono_ns;
    } else if (timebase_page_convert(page, t0 + (i * 0x9e3779b97f4a7c15 >> 22), &seen)) {
        found->at++;
        judge(found, &seen, t0);
    } else
        found->none++;
}

/* While it is written: a look into which a publication falls says nothing. */
static bool is_valid_now_and_then(const struct timebase_page *page)
{
    for (int i = 0; i < LOOKS; i++)
        if (timebase_page_validate(page) == 0)
            return true;
    return false;
}

static int check(const char *path, uint64_t reads)
{
    struct timebase_page *page = map(path, false);
    if (page == NULL || !is_valid_now_and_then(page)) {
        fprintf(stderr, "writer: %s: %s\n", path, page == NULL ? strerror(errno) : "no valid page");
        return 1;
    }
    uint64_t t0 = timebase_page_word(&page->disruption_marker);
    struct found found = {0};
    for (uint64_t i = 0; i < reads; i++)
        look(&found, page, i, t0);
    printf("%" PRIu64 " readings of now, %" PRIu64 " of other ticks, %" PRIu64 " without a line, "
           "%" PRIu64 " torn, %" PRIu64 " backwards, newest %" PRIu64 "\n",
           found.now, found.at, found.none, found.torn, found.backwards, found.newest);
    return found.torn + found.backwards != 0 || found.now == 0 || found.at == 0;
}

int main(int argc, char **argv)
{
    bool is_broken = argc == 4 && strcmp(argv[1], "--broken") == 0;
    bool is_check = argc == 4 && strcmp(argv[1], "--check") == 0;
    double number = argc >= 3 ? strtod(argv[argc - 1], NULL) : 0;
    if (argc != 3 + (is_broken || is_check) || !(number > 0) ||
        (!is_check && number > LAW_SECONDS)) {
        fprintf(stderr,
                "usage: writer [--broken] PATH SECONDS     up to %d seconds\n"
                "       writer --check PATH READS\n",
                LAW_SECONDS);
        return 2;
    }
    if (is_check)
        return check(argv[2], (uint64_t)number);
    return run(argv[argc - 2], number, is_broken);
}
