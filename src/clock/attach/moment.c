/* SPDX-License-Identifier: MIT */
#include "moment.h"

#include "clock/counter/probe.h"
#include "clock/counter/readable.h"
#include "clock/line/lines.h"

/* Beyond the bound of the lines: the looking itself, and the writer's own tolerance for a jump. */
#define TOLERANCE_NS 1000000
/* The kernel's error for a clock that nobody disciplines (NTP_PHASE_LIMIT). */
#define UNSYNCHRONIZED_NS 16000000000

bool moment_look(struct moment *moment)
{
    moment->ticks_before = timebase_ticks_ordered();
    moment->mono_ns = counter_clock_ns(CLOCK_MONOTONIC);
    moment->utc_ns = counter_clock_ns(CLOCK_REALTIME);
    int64_t again_ns = counter_clock_ns(CLOCK_MONOTONIC);
    moment->ticks_after = timebase_ticks_ordered();
    moment->error_ns = (uint64_t)again_ns - (uint64_t)moment->mono_ns;
    return moment->mono_ns != INT64_MIN && moment->utc_ns != INT64_MIN && again_ns != INT64_MIN;
}

static int64_t difference_ns(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Is ns outside [earliest - error, latest + error]? Differences wrap, and no sum overflows. */
static bool is_outside(int64_t ns, int64_t earliest_ns, int64_t latest_ns, uint64_t error_ns)
{
    int64_t below_ns = difference_ns(earliest_ns, ns), above_ns = difference_ns(ns, latest_ns);
    return (below_ns > 0 && (uint64_t)below_ns > error_ns) ||
        (above_ns > 0 && (uint64_t)above_ns > error_ns);
}

bool moment_has_parted(const struct moment *moment, const struct timebase_lines *lines,
                       int64_t mono_offset_ns)
{
    struct timebase_instant before = lines_instant(lines, moment->ticks_before);
    struct timebase_instant after = lines_instant(lines, moment->ticks_after);
    uint64_t error_ns = after.maxerror_ns + TOLERANCE_NS;
    return is_outside(difference_ns(moment->mono_ns, mono_offset_ns), before.mono_ns, after.mono_ns,
                      error_ns) ||
        is_outside(moment->utc_ns, before.utc_ns, after.utc_ns, error_ns);
}

int64_t moment_latest_ns(const struct moment *moment, const struct timebase_lines *lines,
                         int64_t mono_offset_ns)
{
    uint64_t error_ns = lines_instant(lines, moment->ticks_after).maxerror_ns + TOLERANCE_NS;
    return (int64_t)((uint64_t)difference_ns(moment->mono_ns, mono_offset_ns) + error_ns);
}

bool moment_agrees_in_utc(const struct moment *moment, const struct timebase_lines *lines)
{
    struct timebase_instant before = lines_instant(lines, moment->ticks_before);
    struct timebase_instant after = lines_instant(lines, moment->ticks_after);
    return !is_outside(moment->utc_ns, before.utc_ns, after.utc_ns, after.maxerror_ns);
}

struct timebase_lines moment_lines(const struct moment *moment, const struct timebase_lines *lines,
                                   int64_t mono_offset_ns)
{
    struct timebase_line line = lines->after;
    /* A counter with steps may show a tick one step old, here and where the line is read. */
    uint64_t looking_ticks = moment->ticks_after - moment->ticks_before + counter_measure_step();
    uint64_t looking_ns = lines_elapsed_ns(lines, looking_ticks);
    line.start_ticks = moment->ticks_before;
    line_set_times(&line, difference_ns(moment->mono_ns, mono_offset_ns), moment->utc_ns);
    if (line_status(&line) != TIMEBASE_STATUS_UNKNOWN) /* which promises no more */
        line_set_status(&line, TIMEBASE_STATUS_UNRELIABLE);
    line.maxerror_ns = looking_ns + moment->error_ns + 1;
    line.utc_maxerror_ns = UNSYNCHRONIZED_NS;
    struct timebase_lines own = {line, line, line, lines->validity};
    own.validity.before_esterror_ns = line.maxerror_ns;
    own.validity.slew_esterror_ns = line.maxerror_ns;
    own.validity.after_esterror_ns = line.maxerror_ns;
    return own;
}
