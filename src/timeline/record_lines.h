/* SPDX-License-Identifier: MIT */
/* record_lines: a publication in one record, RECORD_LINES. */
#ifndef TIMELINE_RECORD_LINES_H
#define TIMELINE_RECORD_LINES_H

#include "record.h"

/*
 * The publication in one record, which follows that of `previous`. False, and the record is
 * undefined, if the publication cannot be restored from it. *part goes into the head.
 */
bool record_put_lines(uint8_t *record, const struct timeline_publication *previous,
                      const struct timeline_publication *publication, unsigned *part);

/*
 * RECORD_LINES: slew and after need no other record; before is the line of the previous
 * publication that the record's part names, with flags and bounds of its own.
 */
void record_get_lines(const uint8_t *record, struct timebase_lines *lines);
void record_get_before(const uint8_t *record, const struct timebase_line *line,
                       struct timebase_lines *lines);

#endif
