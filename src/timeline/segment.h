/* SPDX-License-Identifier: MIT */
/*
 * segment: an open file of records, read in blocks. It may grow while it is read, and hold
 * anything: a record counts only with the right checksum, in its place.
 */
#ifndef TIMELINE_SEGMENT_H
#define TIMELINE_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

#define SEGMENT_BLOCK 32 /* records read at once */
/* Bytes beyond this are ignored: no writer makes such segments. */
#define SEGMENT_SIZE_LIMIT ((uint64_t)1 << 26)

/* Results of segment_open beside errors: the first record is not whole; the file is no segment. */
#define SEGMENT_TORN 1
#define SEGMENT_FOREIGN 2

struct timeline_segment {
    int fd;
    uint32_t number;
    uint32_t count;    /* whole records of 112 bytes there were when it was opened, or less */
    uint32_t sequence; /* of the first one */
    uint64_t size;     /* bytes there were then */
    struct record_segment first;
    uint32_t block, block_count; /* the records in `bytes` */
    uint8_t bytes[SEGMENT_BLOCK * RECORD_SIZE];
};

/*
 * flags as of open(2). Returns 0, SEGMENT_TORN, SEGMENT_FOREIGN, or TIMEBASE_E_FORMAT (a segment
 * of another version), _NOT_FOUND, _PERMISSION, _RESOURCE.
 */
int segment_open(struct timeline_segment *segment, int folder, uint32_t number, int flags);
void segment_close(struct timeline_segment *segment);

/* A record that is whole and in its place, until the next call; else NULL. */
const uint8_t *segment_record(struct timeline_segment *segment, uint32_t index);

/* The index after the last record that counts: of a publication in three parts all are there. */
uint32_t segment_end(struct timeline_segment *segment);

/* The publication that this record belongs to. False if it is not all there, or makes no sense. */
bool segment_publication(struct timeline_segment *segment, uint32_t index,
                         struct timeline_publication *publication);

#endif
