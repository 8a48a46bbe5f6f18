/* SPDX-License-Identifier: MIT */
/* sources_parts: what the files of sources share. Not for others. */
#ifndef SOURCES_SOURCES_PARTS_H
#define SOURCES_SOURCES_PARTS_H

#include "sources.h"

/* Errors stop here, far below where sums wrap: 2^60 ns are 36 years. */
#define SOURCES_ERROR_MAX ((uint64_t)1 << 60)

/* Its driver, with a context of its own. Returns 0 or an error, and source->reason. */
int source_open(struct source *source);
void source_close(struct source *source);

#endif
