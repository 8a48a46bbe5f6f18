/* SPDX-License-Identifier: MIT */
#include "correction.h"

/* A slew of 500 ppm is over after 2,000 times what it mends. */
#define SLEW_RATE 500e-6
#define SLEW_TICKS_PER_TICK 2000
#define RATE_ONE 0x1p63

static uint64_t fixed(double rate)
{
    return (uint64_t)(int64_t)(rate * RATE_ONE);
}

/* What the CPU's counter grows by more than the reference CPU's, by ticks of its own: taken off. */
static double pace(const struct correction_measured *measured)
{
    return -measured->rate / (1 + measured->rate);
}

/* The line that makes the reference CPU's ticks of the CPU's, if the offset was this. */
static struct by_cpu_line line_of(const struct correction_measured *measured, int64_t offset_ticks)
{
    return (struct by_cpu_line){.start_ticks = measured->ticks + (uint64_t)offset_ticks,
                                .add_ticks = 0 - (uint64_t)offset_ticks,
                                .rate = fixed(pace(measured))};
}

/* The CPU's own tick at a tick of the reference CPU. */
static uint64_t raw_at(const struct correction_measured *measured, uint64_t ticks)
{
    double passed = (double)(int64_t)(ticks - measured->ticks);
    return ticks + (uint64_t)skew_middle(&measured->range) +
        (uint64_t)(int64_t)(measured->rate * passed);
}

/* What such a line lacks of what is shown at a tick, which may be long before the measurement. */
static int64_t off_by(const struct correction_measured *measured, int64_t offset_ticks,
                      uint64_t raw, uint64_t shown)
{
    uint64_t ticks = raw - (uint64_t)offset_ticks;
    double passed = (double)(int64_t)(ticks - measured->ticks);
    return (int64_t)(ticks + (uint64_t)(int64_t)(pace(measured) * passed) - shown);
}

/* What is to be added to what the present lines show: to the middle, or into the range. */
static int64_t find_off(const struct correction_measured *measured, uint64_t raw, uint64_t shown)
{
    if (!measured->is_rough)
        return off_by(measured, skew_middle(&measured->range), raw, shown);
    int64_t least = off_by(measured, measured->range.high_ticks, raw, shown);
    int64_t most = off_by(measured, measured->range.low_ticks, raw, shown);
    return least > 0 ? least : most < 0 ? most : 0;
}

static struct by_cpu_line go_on(const struct by_cpu_line *line, uint64_t raw, double rate)
{
    return (struct by_cpu_line){.start_ticks = raw,
                                .add_ticks = by_cpu_line_ticks(line, raw) - raw,
                                .rate = fixed(rate)};
}

static bool is_before(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0;
}

/* Whoever reads now has passed its start, although `now` is only as good as the measurement. */
static bool has_certainly_begun(const struct by_cpu_line *line, uint64_t now)
{
    return is_before(line->start_ticks + CORRECTION_MOST_TICKS, now);
}

/* Measured at a tick before lines that were in force: it has begun anew, in a sleep of the machine.
 * It would come to their end after as long as it ran before. */
static bool has_begun_anew(const struct by_cpu_entry *present, uint64_t measured)
{
    return is_before(measured + CORRECTION_MOST_TICKS, present->before.start_ticks);
}

enum correction_result correction_plan(const struct by_cpu_entry *present,
                                       const struct correction_measured *measured, uint64_t now,
                                       uint64_t until, struct by_cpu_entry *out,
                                       uint64_t *off_ticks)
{
    struct by_cpu_line middle = line_of(measured, skew_middle(&measured->range));
    uint64_t end = raw_at(measured, until);
    *off_ticks = 0;
    bool may_begin = !measured->is_rough && is_before(middle.start_ticks, end);
    *out = (struct by_cpu_entry){middle, middle, middle, end, may_begin};
    if (!present->is_known || has_begun_anew(present, middle.start_ticks))
        return may_begin ? CORRECTION_BEGUN : CORRECTION_TOO_ROUGH;
    uint64_t from = present->end_ticks;
    const struct by_cpu_line *last = by_cpu_entry_line(present, from);
    *out = *present;
    if (!has_certainly_begun(last, raw_at(measured, now)) || !is_before(from, end))
        return CORRECTION_STAYS;
    int64_t off = find_off(measured, from, by_cpu_line_ticks(last, from));
    *off_ticks = off < 0 ? 0 - (uint64_t)off : (uint64_t)off;
    if (*off_ticks > CORRECTION_MOST_TICKS) {
        out->is_known = 0;
        return CORRECTION_JUMPED;
    }
    double slew = off < 0 ? -SLEW_RATE : off > 0 ? SLEW_RATE : 0;
    out->before = *last;
    out->slew = go_on(last, from, pace(measured) + slew);
    out->after = go_on(&out->slew, from + *off_ticks * SLEW_TICKS_PER_TICK + 1, pace(measured));
    out->end_ticks = end;
    return CORRECTION_GOES_ON;
}
