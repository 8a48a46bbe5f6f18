/* SPDX-License-Identifier: MIT */
/* join: which pieces go on where the piece before them ended. span.h has the rule. */
#ifndef TIMELINE_JOIN_H
#define TIMELINE_JOIN_H

#include "span.h"

/* The pieces from this one on, all of this segment, which is the newest in the index so far. */
void join_pieces(struct index *index, struct timeline_segment *segment, size_t from);

#endif
