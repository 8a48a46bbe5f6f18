/* SPDX-License-Identifier: MIT */
/* behind_page: a table of corrections in a file, behind where a page is, that a test may spoil. */
#ifndef TEST_BEHIND_PAGE_H
#define TEST_BEHIND_PAGE_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <timebase/page.h>

#include "clock/counter/by_cpu_file.h"

enum { BEHIND_CPUS = 8 };

struct behind_page {
    struct by_cpu_file_head head;
    struct by_cpu_file_copy *copy; /* with BEHIND_CPUS entries */
};

/* Of two ticks a nanosecond, by an anchor at 0; CPU 0 is the reference. No other CPU has lines. */
static inline struct behind_page behind_begin(void)
{
    struct behind_page table = {.head = {.magic = BY_CPU_FILE_MAGIC, .cpus = BEHIND_CPUS}};
    table.copy = calloc(1, by_cpu_file_copy_size(BEHIND_CPUS));
    table.copy->anchor = (struct by_cpu_anchor){.ticks_per_ns = 2, .error_ns = 500};
    table.copy->entries[0] =
        (struct by_cpu_entry){.end_ticks = (uint64_t)1 << 62, .is_known = 1};
    return table;
}

/* Its counter is so much ahead of the reference's. */
static inline void behind_set(struct behind_page *table, unsigned cpu, uint64_t offset_ticks)
{
    struct by_cpu_line line = {.start_ticks = offset_ticks, .add_ticks = 0 - offset_ticks};
    table->copy->entries[cpu] = (struct by_cpu_entry){
        line, line, line, offset_ticks + ((uint64_t)1 << 61), 1};
}

static inline void behind_write(int fd, const void *bytes, size_t size, size_t at)
{
    if (pwrite(fd, bytes, size, (off_t)(TIMEBASE_PAGE_SIZE + at)) != (ssize_t)size)
        abort();
}

/* The next publication, as the page's writer has it: the other copy, then the number. */
static inline void behind_publish(struct behind_page *table, int fd)
{
    table->head.seq++;
    behind_write(fd, table->copy, by_cpu_file_copy_size(BEHIND_CPUS),
                 by_cpu_file_copy_at(BEHIND_CPUS, table->head.seq));
    behind_write(fd, &table->head, sizeof(table->head), 0);
}

#endif
