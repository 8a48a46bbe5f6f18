/* SPDX-License-Identifier: MIT */
/*
 * record: publications and marks as 112 bytes each, and back (spec/timeline.md).
 *
 * A publication is three lines. `before` is nearly always a line of the publication before, and the
 * three share most of their other fields: then one record holds them. Else a publication takes
 * three records, a line each. The writer tries the short form and reads it back; if a bit differs
 * it takes the long form.
 */
#ifndef TIMELINE_RECORD_H
#define TIMELINE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/page.h>

#define RECORD_SIZE 112
#define RECORD_MAGIC 0x4e4c454d49544254u /* "TBTIMELN" in the order of its bytes */
#define RECORD_VERSION 1
#define RECORD_BOOT_SIZE 16
#define RECORD_PUBLISHED_AT 16 /* published_ticks, in all records of lines */

enum record_type {
    RECORD_SEGMENT = 1, /* the first of each file */
    RECORD_MARK = 2,    /* a run of publications begins, for a reason */
    RECORD_LINES = 3,   /* a publication in one record; part: what its `before` was */
    RECORD_LINE = 4,    /* one of the three of a publication; part: which */
};

enum record_part {
    RECORD_BEFORE = 0,
    RECORD_SLEW = 1,
    RECORD_AFTER = 2,
};

/* What all records begin with, after the checksum. */
struct record_head {
    unsigned type;
    unsigned part;     /* enum record_part; of a mark the reason */
    uint32_t sequence; /* counts records through all segments; modulo 2^32 */
    uint32_t run;      /* sequence of the mark that this run of publications began with */
};

struct record_segment {
    uint64_t magic;
    uint32_t version, record_size;
    uint8_t boot[RECORD_BOOT_SIZE]; /* of the records up to the first mark */
    int32_t counter_id;
    uint32_t number; /* as in the file's name */
};

struct record_mark {
    uint8_t boot[RECORD_BOOT_SIZE]; /* of the records from here on */
    int32_t counter_id;
    uint64_t held_ticks; /* LOST: up to here nothing is missing */
};

struct timeline_publication {
    uint64_t published_ticks;
    struct timebase_lines lines; /* but for their validity */
};

static inline const struct timebase_line *record_line_of(const struct timebase_lines *lines,
                                                         enum record_part part)
{
    return part == RECORD_BEFORE ? &lines->before
        : part == RECORD_SLEW    ? &lines->slew
                                 : &lines->after;
}

/* The content first, then head and checksum. Records are zeroed by the caller. */
void record_put_segment(uint8_t *record, const struct record_segment *segment);
void record_put_mark(uint8_t *record, const struct record_mark *mark);
void record_put_line(uint8_t *record, const struct timeline_publication *publication,
                     enum record_part part);
void record_seal(uint8_t *record, const struct record_head *head);

/* Is the checksum right? Check this before anything else of the record. */
bool record_is_whole(const uint8_t *record);
struct record_head record_head(const uint8_t *record);
struct record_segment record_get_segment(const uint8_t *record);
struct record_mark record_get_mark(const uint8_t *record);

/* Of RECORD_LINES and RECORD_LINE. */
uint64_t record_published_ticks(const uint8_t *record);

/* RECORD_LINE: the line. */
struct timebase_line record_get_line(const uint8_t *record);

#endif
