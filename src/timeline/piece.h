/* SPDX-License-Identifier: MIT */
#ifndef TIMELINE_PIECE_H
#define TIMELINE_PIECE_H

#include "span.h"

/*
 * Add a segment's pieces to the index, which has those of all older segments. Returns 0 or
 * TIMEBASE_E_RESOURCE.
 */
int piece_add_segment(struct index *index, struct timeline_segment *segment);

/* Note bytes that are no record. Returns 0 or TIMEBASE_E_RESOURCE. */
int piece_add_damage(struct index *index, uint32_t segment, uint64_t offset, uint64_t size);

/* The array with room for one more item, perhaps elsewhere; NULL if there is no memory. */
void *piece_with_room(void *items, size_t count, size_t *room, size_t size);

#endif
