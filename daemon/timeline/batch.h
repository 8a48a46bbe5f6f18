/* SPDX-License-Identifier: MIT */
/* batch: the records of one write. */
#ifndef TIMELINE_BATCH_H
#define TIMELINE_BATCH_H

#include "writer.h"

#define BATCH_MAX 5 /* the segment's first record, a mark, three lines */

/* Records that are written by one call, so that a publication is there as a whole or not. */
struct batch {
    uint8_t bytes[BATCH_MAX * RECORD_SIZE];
    uint32_t count;
    uint32_t sequence, run;
};

/*
 * The records to write: in a new segment its first record, then the mark that is due, the lines.
 * publication may be null.
 */
struct batch batch_compose(const struct timeline_writer *writer,
                           const struct timeline_publication *publication);

#endif
