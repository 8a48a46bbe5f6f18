/* SPDX-License-Identifier: MIT */
/*
 * page_writer: somebody else's page in a real file. Lines of some 20 ms each, every one 400 ppm or
 * less (most_bend) off the kernel's pace and chosen by dice about as late as the lease allows: who
 * uses a copy for longer than its lease sees another time than the others.
 */
#ifndef TEST_PAGE_WRITER_H
#define TEST_PAGE_WRITER_H

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <timebase/clock.h>

#include "../unit/dice.h"
#include "../unit/kernel_now.h"
#include "../unit/never_expires.h"
#include "clock/cell.h"
#include "clock/discipline/plan.h"
#include "clock/page/publish.h"

#define WRITER_LINE_NS 20000000
#define WRITER_BEND_PPM 400
/* A line is `before` so long after its end: ticks so old convert exactly. */
#define WRITER_KEPT_NS 4000000
#define WRITER_LEAD_NS 30000000
#define WRITER_REFRESH_LINES 4
#define WRITER_ERROR_NS 100000
/* A disturbed machine takes its time to learn the pace so well. */
#define WRITER_PACE_PPB 5000

struct page_writer {
    char folder[64];
    char path[96];
    struct timebase_page *page; /* the file, mapped */
    struct fixed period;        /* the kernel's pace */
    struct segment origin;      /* the kernel's time, drawn on at that pace */
    struct segment line[3];
    struct dice dice;
    int bend;               /* ppm of the newest line */
    unsigned most_bend;     /* ppm; 0: all lines are the kernel's time */
    uint32_t flags;         /* of all of them */
    uint64_t refresh_lines; /* their renewal is due so many lines after the last began */
    uint64_t late;          /* publications whose new line began within the lease */
};

static inline struct timebase_line writer_line(const struct page_writer *writer,
                                               const struct segment *segment)
{
    struct timebase_line line = {0};
    uint64_t million = fixed_over(writer->period, 1000000).frac >> 32;
    line.start_ticks = segment->start_ticks;
    line.mono_ns = (uint64_t)segment->value.ns;
    line.utc_ns = line.mono_ns + (uint64_t)segment->utc_offset_ns;
    line.period_ns = (uint32_t)segment->period.ns;
    line.period_frac = segment->period.frac;
    line.flags = writer->flags;
    line.maxerror_ns = segment->maxerror_ns + WRITER_ERROR_NS;
    line.utc_maxerror_ns = WRITER_ERROR_NS;
    line.drift_rate = (uint32_t)(50 * million + 1);
    line.slew_rate = (uint32_t)(500 * million + 1);
    return line;
}

static inline uint64_t writer_ticks(const struct page_writer *writer)
{
    return fixed_ticks(writer->period, WRITER_LINE_NS);
}

/* Three lines, with the usual expiry after their renewal became due. */
static inline struct timebase_lines writer_lines(const struct page_writer *writer,
                                                 const struct segment line[3])
{
    uint64_t due = writer->refresh_lines * writer_ticks(writer);
    uint64_t second = fixed_ticks(writer->period, 1000000000);
    struct timebase_lines lines = {writer_line(writer, &line[0]), writer_line(writer, &line[1]),
                                   writer_line(writer, &line[2]), NEVER_EXPIRES};
    lines.validity.silent_ticks = due + TIMEBASE_PAGE_SILENT_NS / 1000000000 * second;
    lines.validity.void_ticks = due + TIMEBASE_PAGE_EXPIRED_NS / 1000000000 * second;
    return lines;
}

/* The kernel's pace, by the process' own clock; and its time, exactly enough. */
static inline void writer_begin_lines(struct page_writer *writer)
{
    const timebase_clock *own = timebase_clock_default();
    struct timebase_lines lines;
    struct timebase_instant now;
    struct timebase_statistics known = {0};
    int64_t end_ns = kernel_now(CLOCK_MONOTONIC) + 5000000000;
    do {
        timebase_now(own, &now);
        timebase_clock_statistics(own, &known);
    } while ((known.frequency_hz == 0 || known.frequency_error_ppb > WRITER_PACE_PPB) &&
             kernel_now(CLOCK_MONOTONIC) < end_ns);
    publish_read_back(cell_lines_page(cell_of(own)), &lines);
    timebase_now(own, &now);
    struct segment first = {0};
    first.start_ticks = now.ticks;
    first.value = fixed_from_ns(now.mono_ns);
    first.utc_offset_ns = now.utc_ns - now.mono_ns;
    writer->period.ns = (int64_t)lines.after.period_ns;
    writer->period.frac = lines.after.period_frac;
    first.period = writer->period;
    writer->origin = writer->line[0] = writer->line[1] = writer->line[2] = first;
}

static inline struct fixed writer_bent(const struct page_writer *writer)
{
    struct fixed million = fixed_over(writer->period, 1000000);
    struct fixed change = fixed_times(million, (uint64_t)abs(writer->bend));
    return writer->bend < 0 ? fixed_subtract(writer->period, change)
                            : fixed_add(writer->period, change);
}

/* The next line: no sooner than the lead from now, and towards the kernel's time. */
static inline void writer_add(struct page_writer *writer, uint64_t now)
{
    struct segment next = writer->line[2];
    uint64_t soonest = now + fixed_ticks(writer->period, WRITER_LEAD_NS);
    next.start_ticks += fixed_ticks(writer->period, WRITER_LINE_NS);
    if ((int64_t)(next.start_ticks - soonest) < 0)
        next.start_ticks = soonest;
    next.value = segment_at(&writer->line[2], next.start_ticks);
    int64_t ahead_ns = next.value.ns - segment_at(&writer->origin, next.start_ticks).ns;
    next.maxerror_ns = (uint64_t)llabs(ahead_ns);
    int bend = (int)dice_below(&writer->dice, writer->most_bend + 1);
    writer->bend = ahead_ns > 0 ? -bend : bend;
    next.period = writer_bent(writer);
    writer->line[0] = writer->line[1];
    writer->line[1] = writer->line[2];
    writer->line[2] = next;
}

/* After a long hold-up there are two new lines. The lease is to end before the first of them begins. */
static inline void writer_publish(struct page_writer *writer)
{
    uint64_t kept = fixed_ticks(writer->period, WRITER_KEPT_NS), first_start = 0;
    uint64_t lease = fixed_ticks(writer->period, TIMEBASE_PAGE_LEASE_NS);
    uint64_t now = timebase_ticks_ordered();
    bool is_new = false;
    while ((int64_t)(now - kept - writer->line[1].start_ticks) >= 0) {
        writer_add(writer, now);
        if (!is_new)
            first_start = writer->line[2].start_ticks;
        is_new = true;
        now = timebase_ticks_ordered();
    }
    struct timebase_lines lines = writer_lines(writer, writer->line);
    publish_lines(writer->page, &lines, writer->refresh_lines * writer_ticks(writer));
    uint64_t left = first_start - timebase_ticks_ordered();
    if (is_new && (int64_t)(left - lease) < 0)
        writer->late++;
}

/* Go on where the page in memory ends, as a restarted writer does. */
static inline void writer_adopt(struct page_writer *writer)
{
    struct timebase_lines lines;
    if (!publish_read_back(writer->page, &lines))
        abort();
    const struct timebase_line *line[] = {&lines.before, &lines.slew, &lines.after};
    for (int i = 0; i < 3; i++) {
        struct segment segment = {0};
        segment.start_ticks = line[i]->start_ticks;
        segment.value = fixed_from_ns((int64_t)line[i]->mono_ns);
        segment.period.ns = (int64_t)line[i]->period_ns;
        segment.period.frac = line[i]->period_frac;
        segment.utc_offset_ns = timebase_line_utc_offset_ns(line[i]);
        segment.maxerror_ns = line[i]->maxerror_ns - WRITER_ERROR_NS;
        writer->line[i] = segment;
    }
}

static inline void writer_map(struct page_writer *writer, const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, TIMEBASE_PAGE_SIZE) != 0)
        abort();
    fchmod(fd, 0644);
    void *memory = mmap(NULL, TIMEBASE_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        abort();
    close(fd);
    writer->page = (struct timebase_page *)memory;
}

/* Another file in the place of the one that there is, if there is one: made aside, and renamed. */
static inline void writer_replace(struct page_writer *writer)
{
    char aside[128];
    struct timebase_page *old = writer->page;
    snprintf(aside, sizeof(aside), "%s.new", writer->path);
    writer_map(writer, aside);
    publish_begin(writer->page, timebase_counter_id());
    writer_publish(writer);
    if (rename(aside, writer->path) != 0)
        abort();
    if (old != NULL)
        munmap(old, TIMEBASE_PAGE_SIZE);
}

static inline struct page_writer writer_new(void)
{
    struct page_writer writer = {0};
    snprintf(writer.folder, sizeof(writer.folder), "/tmp/timebase-page-XXXXXX");
    if (mkdtemp(writer.folder) == NULL)
        abort();
    chmod(writer.folder, 0755);
    snprintf(writer.path, sizeof(writer.path), "%s/page", writer.folder);
    writer.dice = dice_new();
    writer.most_bend = WRITER_BEND_PPM;
    writer.refresh_lines = WRITER_REFRESH_LINES;
    int64_t tai_ns = kernel_now(CLOCK_TAI) - kernel_now(CLOCK_REALTIME) + 500000000;
    writer.flags = TIMEBASE_STATUS_SYNCHRONIZED | TIMEBASE_LINE_TAI_VALID |
        (uint32_t)(tai_ns / 1000000000) << TIMEBASE_LINE_TAI_SHIFT;
    writer_begin_lines(&writer);
    writer_replace(&writer);
    return writer;
}

static inline void writer_remove(struct page_writer *writer)
{
    unlink(writer->path);
    rmdir(writer->folder);
    munmap(writer->page, TIMEBASE_PAGE_SIZE);
}

/* All lines from now on lie so much higher, or lower, than the kernel's time. */
static inline void writer_move(struct page_writer *writer, int64_t ns)
{
    for (int i = 0; i < 3; i++)
        writer->line[i].value.ns += ns;
    writer->origin.value.ns += ns;
}

/* Publish every `every_ns` until the kernel's monotonic time is end_ns. */
static inline void writer_run_until(struct page_writer *writer, int64_t end_ns, int64_t every_ns)
{
    while (kernel_now(CLOCK_MONOTONIC) < end_ns) {
        struct timespec rest = {.tv_nsec = (long)every_ns};
        writer_publish(writer);
        nanosleep(&rest, NULL);
    }
}

#endif
