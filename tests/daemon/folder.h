/* SPDX-License-Identifier: MIT */
/* folder: a folder of the test's own, gone afterwards; and a page to put there. */
#ifndef TEST_DAEMON_FOLDER_H
#define TEST_DAEMON_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <timebase/page.h>

#include "clock/page/publish.h"
#include "tests/unit/never_expires.h"

static char folder[64];
static char page_path[96];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/timebased-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(page_path, sizeof(page_path), "%s/run/page", folder);
    return 0;
}

/* What is in an open folder, which is closed. */
static inline void empty(int fd)
{
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            unlinkat(fd, entry->d_name, 0) == 0)
            continue;
        empty(openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        unlinkat(fd, entry->d_name, AT_REMOVEDIR);
    }
    if (entries != NULL)
        closedir(entries);
}

static inline void remove_below(const char *path)
{
    empty(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    rmdir(path);
}

static inline int remove_folder(void **state)
{
    (void)state;
    remove_below(folder);
    return 0;
}

static inline struct timebase_line a_line(uint64_t start_ticks)
{
    struct timebase_line line = {.start_ticks = start_ticks,
                                 .mono_ns = start_ticks,
                                 .period_ns = 1,
                                 .flags = TIMEBASE_STATUS_FREERUNNING};
    return line;
}

/* As of publication 1; each further one moves its lines on by 100 ticks. */
static inline void publish_on(struct timebase_page *page)
{
    uint64_t start = 1000 + 100 * page->seq;
    struct timebase_lines lines = {a_line(start), a_line(start + 10), a_line(start + 20),
                                   NEVER_EXPIRES};
    publish_lines(page, &lines, 1000);
}

static inline struct timebase_page a_page(void)
{
    struct timebase_page page = {0};
    publish_begin(&page, timebase_counter_id());
    publish_on(&page);
    return page;
}

#endif
