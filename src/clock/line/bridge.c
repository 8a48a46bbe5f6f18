/* SPDX-License-Identifier: MIT */
#include "bridge.h"

#include "lines.h"

/*
 * A larger gap than this comes from a fault. At 500 ppm it would last for hours, so such a bridge
 * runs at half the pace.
 */
#define SLEW_MAX_NS 1000000
#define FAST_DIVISOR 2

/* A bound grows by drift and by slews, each rounded down: in two pieces by 2 ns less than in one. */
#define ROUNDED_NS 2

/* Ticks until the lines overtake one gap_ns ahead, slower by 1 in divisor; a lease at most. */
static uint64_t overtaken_ticks(const struct timebase_lines *lines, uint64_t gap_ns,
                                uint64_t divisor)
{
    uint64_t ns =
        gap_ns < TIMEBASE_PAGE_LEASE_NS / divisor ? gap_ns * divisor : TIMEBASE_PAGE_LEASE_NS;
    return lines_ticks(lines, ns);
}

struct bridge line_bridge(const struct timebase_lines *lines, const struct timebase_line *old,
                          uint64_t start_ticks, int64_t floor_ns)
{
    const struct timebase_line *under = lines_line(lines, start_ticks);
    struct timebase_instant there = lines_instant(lines, start_ticks);
    struct bridge bridge = {.line = *under};
    bridge.gap_ns = (uint64_t)floor_ns - (uint64_t)there.mono_ns;
    uint64_t divisor = bridge.gap_ns <= SLEW_MAX_NS ? LINE_SLEW_DIVISOR : FAST_DIVISOR;
    struct fixed period = line_period(under);
    bool is_same = timebase_line_utc_offset_ns(old) == timebase_line_utc_offset_ns(under);
    uint64_t utc_ns = (uint64_t)there.utc_ns + (is_same ? bridge.gap_ns : 0);
    bridge.line.start_ticks = start_ticks;
    line_set_times(&bridge.line, floor_ns, (int64_t)utc_ns);
    line_set_period(&bridge.line, fixed_subtract(period, fixed_over(period, divisor)));
    bridge.line.maxerror_ns = there.maxerror_ns + bridge.gap_ns + ROUNDED_NS;
    bridge.esterror_ns = there.esterror_ns + bridge.gap_ns;
    bridge.length_ticks = overtaken_ticks(lines, bridge.gap_ns, divisor);
    return bridge;
}
