/* SPDX-License-Identifier: MIT */
/*
 * numbered_page: lines in which every word tells which publication it is of, and on which line, so
 * that a reading of two publications, or of two lines, shows.
 */
#ifndef TEST_NUMBERED_PAGE_H
#define TEST_NUMBERED_PAGE_H

#include <timebase/page.h>

#include "../unit/never_expires.h"

#define NUMBERED_FAR ((uint64_t)1 << 50)     /* half a line: not reached in a test */
#define NUMBERED_REFRESH (2 * NUMBERED_FAR)  /* ticks: `after` is good for so long */
#define NUMBERED_BASE_NS ((int64_t)1 << 56)  /* at the origin, by publication 0 */
#define NUMBERED_STEP_NS 1000000             /* from publication to publication */
#define NUMBERED_LINE_NS ((uint64_t)1 << 40) /* of UTC, from line to line */

enum { NUMBERED_BEFORE, NUMBERED_SLEW, NUMBERED_AFTER };

static inline struct timebase_line numbered_line(uint64_t origin_ticks, uint64_t number,
                                                 unsigned which, int64_t begins_after)
{
    int64_t ahead = begins_after * (int64_t)NUMBERED_FAR;
    struct timebase_line line = {0};
    line.start_ticks = origin_ticks + (uint64_t)ahead;
    line.mono_ns = (uint64_t)(NUMBERED_BASE_NS + ahead) + number * NUMBERED_STEP_NS;
    line.utc_ns = line.mono_ns + number + which * NUMBERED_LINE_NS;
    line.period_ns = 1;
    line.flags = (uint32_t)(number << 7);
    line.maxerror_ns = 3 * number + which;
    line.utc_maxerror_ns = 7 * number;
    return line;
}

/* Publication `number`; the origin lies in the middle of the line `now_on`. */
static inline struct timebase_lines numbered_lines(uint64_t origin_ticks, uint64_t number,
                                                   int now_on)
{
    struct timebase_lines lines = {.validity = NEVER_EXPIRES};
    lines.validity.before_esterror_ns = 5 * number + NUMBERED_BEFORE;
    lines.validity.slew_esterror_ns = 5 * number + NUMBERED_SLEW;
    lines.validity.after_esterror_ns = 5 * number + NUMBERED_AFTER;
    lines.before = numbered_line(origin_ticks, number, NUMBERED_BEFORE, -1 - 2 * now_on);
    lines.slew = numbered_line(origin_ticks, number, NUMBERED_SLEW, 1 - 2 * now_on);
    lines.after = numbered_line(origin_ticks, number, NUMBERED_AFTER, 3 - 2 * now_on);
    return lines;
}

/* The publication that a reading is of, if all of it is, and of the line `which`; else -1. */
static inline int64_t numbered_number(const struct timebase_instant *instant, uint64_t origin_ticks,
                                      unsigned which)
{
    uint64_t offset = (uint64_t)instant->utc_ns - (uint64_t)instant->mono_ns;
    uint64_t number = offset - which * NUMBERED_LINE_NS;
    int64_t d = (int64_t)(instant->ticks - origin_ticks);
    bool is_whole =
        instant->mono_ns == NUMBERED_BASE_NS + d + (int64_t)(number * NUMBERED_STEP_NS) &&
        instant->maxerror_ns == 3 * number + which &&
        instant->utc_maxerror_ns == 10 * number + which &&
        instant->esterror_ns == 5 * number + which && instant->flags == (uint32_t)(number << 7);
    return is_whole ? (int64_t)number : -1;
}

#endif
