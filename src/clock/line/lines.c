/* SPDX-License-Identifier: MIT */
#include "lines.h"

const struct timebase_line *lines_line(const struct timebase_lines *lines, uint64_t ticks)
{
    if (line_has_begun(&lines->after, ticks))
        return &lines->after;
    return line_has_begun(&lines->slew, ticks) ? &lines->slew : &lines->before;
}

struct timebase_instant lines_instant(const struct timebase_lines *lines, uint64_t ticks)
{
    struct timebase_page page = {.seq = 2, .copy = {*lines}};
    struct timebase_instant instant = {0};
    timebase_page_convert(&page, ticks, &instant);
    return instant;
}

int64_t lines_mono_ns(const struct timebase_lines *lines, uint64_t ticks)
{
    return lines_instant(lines, ticks).mono_ns;
}

uint64_t lines_elapsed_ns(const struct timebase_lines *lines, uint64_t ticks)
{
    return (int64_t)ticks < 0 ? 0 : (uint64_t)fixed_times(line_period(&lines->after), ticks).ns;
}

uint64_t lines_ticks(const struct timebase_lines *lines, uint64_t ns)
{
    return fixed_ticks(line_period(&lines->after), ns);
}
