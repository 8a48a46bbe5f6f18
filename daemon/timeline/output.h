/* SPDX-License-Identifier: MIT */
/* output: the segment that is being written, and the room for it in the folder. */
#ifndef TIMELINE_OUTPUT_H
#define TIMELINE_OUTPUT_H

#include "batch.h"

/* So many records fit into a segment. */
uint32_t output_records(const struct timeline_writer *writer);

/* False if the segment was removed or cut: a record written now would not be found. */
bool output_is_sound(const struct timeline_writer *writer);

/* Write the batch to a new segment, or to the present one. Returns 0 or an error. */
int output_begin(struct timeline_writer *writer, const struct batch *batch);
int output_continue(struct timeline_writer *writer, const struct batch *batch);

/* The next record begins another segment. */
void output_leave(struct timeline_writer *writer);

#endif
