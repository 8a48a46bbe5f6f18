/* SPDX-License-Identifier: MIT */
/*
 * writer: the writing side of a timeline, the history of published lines (spec/timeline.md). A
 * folder of segments of fixed records.
 *
 *     timeline_writer_open(&writer, folder, 1 << 30, counter_id);
 *     ... timeline_writer_append(&writer, &lines, published_ticks) after each publication ...
 *     timeline_writer_mark(&writer, TIMELINE_MARK_END);
 *     timeline_writer_close(&writer);
 *
 * A lock on the folder admits one writer at a time. No record is written twice: a killed writer
 * leaves at most one torn record, at the end of a segment, and the next writer begins another
 * segment. If a record cannot be written (the disk is full), the earlier ones stay as they are, and
 * a mark precedes the next record that can be written. There is no fsync: a power cut loses
 * what the kernel had not written yet, some 30 s, of a boot that has ended anyway.
 *
 * A file may not grow beyond RLIMIT_FSIZE: a process that has such a limit must ignore SIGXFSZ.
 * Only opendir() allocates memory, when the timeline is opened and once for each segment.
 */
#ifndef TIMELINE_WRITER_H
#define TIMELINE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/page.h>

#include "timeline/record.h"

/* Of all segments together: at least eight of the smallest. */
#define TIMELINE_SIZE_MIN 65536

/* Why lines from before a mark are not drawn on past it. As enum timebase_timeline_reason. */
enum timeline_mark {
    TIMELINE_MARK_BEGIN = 1,      /* a writer began; of another boot perhaps */
    TIMELINE_MARK_DISRUPTION = 2, /* the counter's past is no guide to its future */
    TIMELINE_MARK_END = 3,        /* a writer ended in good order */
    TIMELINE_MARK_LOST = 4, /* lines could not be written; _append() notices by itself */
};

struct timeline_writer {
    int folder;    /* descriptors; -1: none */
    int segment;   /* -1: the next record begins a new one */
    uint64_t size; /* of all segments, bytes */
    uint64_t size_max;
    uint32_t number;   /* of the newest segment; 0: there is none yet */
    uint32_t used;     /* records in it */
    uint32_t sequence; /* of the next record */
    uint32_t run;      /* sequence of the latest mark */
    int counter_id;
    uint8_t boot[RECORD_BOOT_SIZE];
    int pending;         /* enum timeline_mark that the next record must be a mark of; or 0 */
    uint64_t held_ticks; /* LOST: when the first publication that is missing was published, or 0 */
    bool has_previous;   /* in this run and segment: then a record may refer to `previous` */
    struct timeline_publication previous;
};

/*
 * Begin or go on with the timeline in a folder, which is made if it is missing. Beyond size_max
 * bytes, the oldest segment goes. A mark of the beginning comes before the first line by itself.
 * Returns 0, TIMEBASE_E_INVALID (no folder, size_max below TIMELINE_SIZE_MIN), _PERMISSION,
 * _NOT_FOUND (its parent), _FORMAT (the folder holds something else), _BUSY (another writer has
 * it), _UNSUPPORTED (the kernel does not tell the boot's id) or _RESOURCE.
 */
int timeline_writer_open(struct timeline_writer *writer, const char *folder, uint64_t size_max,
                         int counter_id);

/*
 * Lines that were published at this tick. If that is before those appended last, the counter went
 * back, and a mark says so. Returns 0, TIMEBASE_E_PERMISSION, _NOT_FOUND or _RESOURCE; the next
 * call tries again, and marks what is missing.
 */
int timeline_writer_append(struct timeline_writer *writer, const struct timebase_lines *lines,
                           uint64_t published_ticks);

/*
 * Returns as timeline_writer_append(), or TIMEBASE_E_INVALID. A mark that fails is written with the
 * next.
 */
int timeline_writer_mark(struct timeline_writer *writer, enum timeline_mark reason);

/* Bytes on disk. */
uint64_t timeline_writer_size(const struct timeline_writer *writer);

/* Marks nothing. */
void timeline_writer_close(struct timeline_writer *writer);

/* As timeline_writer_open(), of a boot that need not be this one: for tests. */
int timeline_writer_open_boot(struct timeline_writer *writer, const char *folder, uint64_t size_max,
                              int counter_id, const uint8_t boot[RECORD_BOOT_SIZE]);

#endif
