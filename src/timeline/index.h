/* SPDX-License-Identifier: MIT */
/* index: the spans of a folder, found without reading all of its segments. */
#ifndef TIMELINE_INDEX_H
#define TIMELINE_INDEX_H

#include <stdbool.h>

#include "span.h"

/* Read the files of now; known ones are kept. Returns 0 or as timebase_timeline_open. */
int index_update(struct index *index, int folder);

/* Is there more, or less, than the index knows? Two system calls. */
bool index_is_outdated(const struct index *index, int folder);

void index_free(struct index *index);

#endif
