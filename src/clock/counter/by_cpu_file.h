/* SPDX-License-Identifier: MIT */
/*
 * by_cpu_file: a table of corrections (by_cpu.h) as it lies behind the page in its file
 * (spec/page.md). In the same file, so that nobody finds a page with another page's table, and one
 * look tells who may have written both.
 *
 *     page, TIMEBASE_PAGE_SIZE    head    copy 0    copy 1
 *
 * A latch as the page is: the copy that nobody is sent to is written, and then the number.
 */
#ifndef COUNTER_BY_CPU_FILE_H
#define COUNTER_BY_CPU_FILE_H

#include <stddef.h>

#include "by_cpu.h"

#define BY_CPU_FILE_MAGIC 0x54435442u /* "BTCT" as a little-endian machine stores it */
/* The number of a CPU as by_cpu_read() knows it has 12 bits. */
enum { BY_CPU_FILE_CPUS_MAX = 4096 };

struct by_cpu_file_head {
    uint64_t seq;           /* number of this publication; its lowest bit names the copy; 0: none */
    uint32_t magic;         /* BY_CPU_FILE_MAGIC */
    uint32_t cpus;          /* so many entries has a copy: CPUs 0 to cpus - 1 */
    uint32_t reference_cpu; /* whose own ticks the corrected ones are */
    uint32_t reserved32;
    uint64_t reserved[5];
};

struct by_cpu_file_copy {
    struct by_cpu_anchor anchor;
    uint64_t spread_ticks; /* two CPUs' corrected ticks are apart by no more */
    uint64_t reserved;
    struct by_cpu_entry entries[];
};

/* Of a whole table; of one of its copies; and how far from its beginning the copy of a number is. */
size_t by_cpu_file_size(unsigned cpus);
size_t by_cpu_file_copy_size(unsigned cpus);
size_t by_cpu_file_copy_at(unsigned cpus, uint64_t seq);

/*
 * Is this the head of a table that can be read? 0; TIMEBASE_E_FORMAT; TIMEBASE_E_UNSUPPORTED: of
 * more CPUs than a counter can name; TIMEBASE_E_STALE: nothing was published yet. Pure.
 */
int by_cpu_file_judge(const struct by_cpu_file_head *head);

/*
 * May these be read by? The reference shows its own ticks; lines join without a step, and are no
 * further from the counter's pace than any drift or slew; the anchor makes nobody wait for long. Pure.
 */
bool by_cpu_file_is_sound(const struct by_cpu_file_head *head, const struct by_cpu_file_copy *copy);

#endif
