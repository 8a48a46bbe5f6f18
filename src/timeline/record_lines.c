/* SPDX-License-Identifier: MIT */
#include "record_lines.h"

#include <string.h>

#include "bytes.h"

/* Offsets; spec/timeline.md has the same table. */
enum lines_at {
    SLEW_MONO_AT = 24,
    OFFSET_AT = 32,
    SLEW_FRAC_AT = 40,
    AFTER_FRAC_AT = 48,
    UTC_MAXERROR_AT = 56,
    LEAD_AT = 64,     /* slew.start_ticks - published_ticks, signed */
    DURATION_AT = 68, /* after.start_ticks - slew.start_ticks */
    RISE_AT = 72,     /* after.mono_ns - slew.mono_ns */
    FLAGS_AT = 76,
    DRIFT_AT = 80, /* of slew and after */
    SLEW_RATE_AT = 84,
    BEFORE_DRIFT_AT = 88,
    SLEW_PERIOD_AT = 92,
    AFTER_PERIOD_AT = 94,
    BEFORE_MAXERROR_AT = 96,
    SLEW_MAXERROR_AT = 104,
    AFTER_MAXERROR_AT = 108,
};

/* Numbers that do not fit are cut off: the caller reads back and compares. */
static void put_lines(uint8_t *record, const struct timeline_publication *publication)
{
    const struct timebase_line *before = &publication->lines.before;
    const struct timebase_line *slew = &publication->lines.slew;
    const struct timebase_line *after = &publication->lines.after;
    bytes_put(record + RECORD_PUBLISHED_AT, publication->published_ticks, 8);
    bytes_put(record + SLEW_MONO_AT, slew->mono_ns, 8);
    bytes_put(record + OFFSET_AT, (uint64_t)timebase_line_utc_offset_ns(slew), 8);
    bytes_put(record + SLEW_FRAC_AT, slew->period_frac, 8);
    bytes_put(record + AFTER_FRAC_AT, after->period_frac, 8);
    bytes_put(record + UTC_MAXERROR_AT, slew->utc_maxerror_ns, 8);
    bytes_put(record + LEAD_AT, slew->start_ticks - publication->published_ticks, 4);
    bytes_put(record + DURATION_AT, after->start_ticks - slew->start_ticks, 4);
    bytes_put(record + RISE_AT, after->mono_ns - slew->mono_ns, 4);
    bytes_put(record + FLAGS_AT, slew->flags, 4);
    bytes_put(record + DRIFT_AT, slew->drift_rate, 4);
    bytes_put(record + SLEW_RATE_AT, slew->slew_rate, 4);
    bytes_put(record + BEFORE_DRIFT_AT, before->drift_rate, 4);
    bytes_put(record + SLEW_PERIOD_AT, slew->period_ns, 2);
    bytes_put(record + AFTER_PERIOD_AT, after->period_ns, 2);
    bytes_put(record + BEFORE_MAXERROR_AT, before->maxerror_ns, 8);
    bytes_put(record + SLEW_MAXERROR_AT, slew->maxerror_ns, 4);
    bytes_put(record + AFTER_MAXERROR_AT, after->maxerror_ns, 4);
}

static struct timebase_line get_slew(const uint8_t *record)
{
    int32_t lead = (int32_t)bytes_get32(record + LEAD_AT);
    struct timebase_line slew;
    slew.start_ticks = record_published_ticks(record) + (uint64_t)(int64_t)lead;
    slew.mono_ns = bytes_get64(record + SLEW_MONO_AT);
    slew.utc_ns = slew.mono_ns + bytes_get64(record + OFFSET_AT);
    slew.period_frac = bytes_get64(record + SLEW_FRAC_AT);
    slew.period_ns = (uint32_t)bytes_get(record + SLEW_PERIOD_AT, 2);
    slew.flags = bytes_get32(record + FLAGS_AT);
    slew.maxerror_ns = bytes_get32(record + SLEW_MAXERROR_AT);
    slew.drift_rate = bytes_get32(record + DRIFT_AT);
    slew.slew_rate = bytes_get32(record + SLEW_RATE_AT);
    slew.utc_maxerror_ns = bytes_get64(record + UTC_MAXERROR_AT);
    return slew;
}

void record_get_lines(const uint8_t *record, struct timebase_lines *lines)
{
    lines->slew = get_slew(record);
    lines->after = lines->slew;
    lines->after.start_ticks += bytes_get32(record + DURATION_AT);
    lines->after.mono_ns += bytes_get32(record + RISE_AT);
    lines->after.utc_ns += bytes_get32(record + RISE_AT);
    lines->after.period_frac = bytes_get64(record + AFTER_FRAC_AT);
    lines->after.period_ns = (uint32_t)bytes_get(record + AFTER_PERIOD_AT, 2);
    lines->after.maxerror_ns = bytes_get32(record + AFTER_MAXERROR_AT);
}

void record_get_before(const uint8_t *record, const struct timebase_line *line,
                       struct timebase_lines *lines)
{
    lines->before = *line;
    lines->before.flags = lines->slew.flags;
    lines->before.maxerror_ns = bytes_get64(record + BEFORE_MAXERROR_AT);
    lines->before.drift_rate = bytes_get32(record + BEFORE_DRIFT_AT);
    lines->before.slew_rate = lines->slew.slew_rate;
    lines->before.utc_maxerror_ns = lines->slew.utc_maxerror_ns;
}

/* How long lines hold is no part of a timeline: the next record says. */
#define THREE_LINES_SIZE offsetof(struct timebase_lines, validity)
TIMEBASE_STATIC_ASSERT(THREE_LINES_SIZE == 192, "no padding: lines can be compared");

bool record_put_lines(uint8_t *record, const struct timeline_publication *previous,
                      const struct timeline_publication *publication, unsigned *part)
{
    struct timebase_lines back;
    bool is_after = publication->lines.before.start_ticks == previous->lines.after.start_ticks;
    *part = is_after ? RECORD_AFTER : RECORD_SLEW;
    put_lines(record, publication);
    record_get_lines(record, &back);
    record_get_before(record, record_line_of(&previous->lines, *part), &back);
    return memcmp(&back, &publication->lines, THREE_LINES_SIZE) == 0;
}
