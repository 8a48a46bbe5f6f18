/* SPDX-License-Identifier: MIT */
/* resume: where the writer before left off. */
#ifndef TIMELINE_RESUME_H
#define TIMELINE_RESUME_H

#include <stdint.h>

struct timeline_writer;

/*
 * Take up the newest segment, writer->number. It is continued only if it ends with a
 * publication or a mark and has at most used_max records; else, torn or full, it stays as it is,
 * and the next record begins another. Returns 0, TIMEBASE_E_FORMAT if it is no segment of this
 * version, _PERMISSION or _RESOURCE.
 */
int resume(struct timeline_writer *writer, uint32_t oldest, uint32_t used_max);

#endif
