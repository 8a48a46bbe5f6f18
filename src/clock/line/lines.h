/* SPDX-License-Identifier: MIT */
/* lines: exact arithmetic of published lines, for writers and for attached readers. */
#ifndef LINE_LINES_H
#define LINE_LINES_H

#include <stdint.h>

#include <timebase/page.h>

#include "fixed.h"

/* A slew brings 1 ns in 2,000: 500 ppm. */
#define LINE_SLEW_DIVISOR 2000

static inline struct fixed line_period(const struct timebase_line *line)
{
    struct fixed period = {(int64_t)line->period_ns, line->period_frac};
    return period;
}

static inline void line_set_period(struct timebase_line *line, struct fixed period)
{
    line->period_ns = (uint32_t)period.ns;
    line->period_frac = period.frac;
}

/* Monotonic time and UTC at the line's start. */
static inline void line_set_times(struct timebase_line *line, int64_t mono_ns, int64_t utc_ns)
{
    line->mono_ns = (uint64_t)mono_ns;
    line->utc_ns = (uint64_t)utc_ns;
}

static inline uint32_t line_status(const struct timebase_line *line)
{
    return line->flags & TIMEBASE_LINE_STATUS_MASK;
}

static inline void line_set_status(struct timebase_line *line, uint32_t status)
{
    line->flags = (line->flags & ~TIMEBASE_LINE_STATUS_MASK) | status;
}

static inline bool line_has_begun(const struct timebase_line *line, uint64_t ticks)
{
    return (int64_t)(ticks - line->start_ticks) >= 0;
}

/* The line of a tick; `before` has no beginning. */
const struct timebase_line *lines_line(const struct timebase_lines *lines, uint64_t ticks);

/* All that a tick says by these lines, and monotonic time alone. */
struct timebase_instant lines_instant(const struct timebase_lines *lines, uint64_t ticks);
int64_t lines_mono_ns(const struct timebase_lines *lines, uint64_t ticks);

/* ns in so many ticks after the lines, 0 if they are negative; and the ticks in ns, below 2^32. */
uint64_t lines_elapsed_ns(const struct timebase_lines *lines, uint64_t ticks);
uint64_t lines_ticks(const struct timebase_lines *lines, uint64_t ns);

#endif
