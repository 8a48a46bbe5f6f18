/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <string.h>

#include "bytes.h"
#include "crc.h"

/* Offsets; spec/timeline.md has the same tables. */
enum head_at { CRC_AT = 0, TYPE_AT = 4, PART_AT = 5, SEQUENCE_AT = 8, RUN_AT = 12, BODY_AT = 16 };
enum segment_at {
    MAGIC_AT = 16,
    VERSION_AT = 24,
    RECORD_SIZE_AT = 28,
    SEGMENT_BOOT_AT = 32,
    SEGMENT_COUNTER_AT = 48,
    NUMBER_AT = 52,
};
enum mark_at { MARK_BOOT_AT = 16, MARK_COUNTER_AT = 32, HELD_AT = 40 };
enum line_at {
    PUBLISHED_AT = RECORD_PUBLISHED_AT,
    LINE_START_AT = 24,
    LINE_MONO_AT = 32,
    LINE_OFFSET_AT = 40,
    LINE_FRAC_AT = 48,
    LINE_PERIOD_AT = 56,
    LINE_FLAGS_AT = 60,
    LINE_MAXERROR_AT = 64,
    LINE_DRIFT_AT = 72,
    LINE_SLEW_RATE_AT = 76,
    LINE_UTC_MAXERROR_AT = 80,
};
void record_seal(uint8_t *record, const struct record_head *head)
{
    record[TYPE_AT] = (uint8_t)head->type;
    record[PART_AT] = (uint8_t)head->part;
    bytes_put(record + SEQUENCE_AT, head->sequence, 4);
    bytes_put(record + RUN_AT, head->run, 4);
    bytes_put(record + CRC_AT, crc32c(record + TYPE_AT, RECORD_SIZE - TYPE_AT), 4);
}

bool record_is_whole(const uint8_t *record)
{
    return bytes_get32(record + CRC_AT) == crc32c(record + TYPE_AT, RECORD_SIZE - TYPE_AT);
}

struct record_head record_head(const uint8_t *record)
{
    struct record_head head = {record[TYPE_AT], record[PART_AT], bytes_get32(record + SEQUENCE_AT),
                               bytes_get32(record + RUN_AT)};
    return head;
}

void record_put_segment(uint8_t *record, const struct record_segment *segment)
{
    bytes_put(record + MAGIC_AT, segment->magic, 8);
    bytes_put(record + VERSION_AT, segment->version, 4);
    bytes_put(record + RECORD_SIZE_AT, segment->record_size, 4);
    memcpy(record + SEGMENT_BOOT_AT, segment->boot, RECORD_BOOT_SIZE);
    bytes_put(record + SEGMENT_COUNTER_AT, (uint32_t)segment->counter_id, 4);
    bytes_put(record + NUMBER_AT, segment->number, 4);
}

struct record_segment record_get_segment(const uint8_t *record)
{
    struct record_segment segment;
    segment.magic = bytes_get64(record + MAGIC_AT);
    segment.version = bytes_get32(record + VERSION_AT);
    segment.record_size = bytes_get32(record + RECORD_SIZE_AT);
    memcpy(segment.boot, record + SEGMENT_BOOT_AT, RECORD_BOOT_SIZE);
    segment.counter_id = (int32_t)bytes_get32(record + SEGMENT_COUNTER_AT);
    segment.number = bytes_get32(record + NUMBER_AT);
    return segment;
}

void record_put_mark(uint8_t *record, const struct record_mark *mark)
{
    memcpy(record + MARK_BOOT_AT, mark->boot, RECORD_BOOT_SIZE);
    bytes_put(record + MARK_COUNTER_AT, (uint32_t)mark->counter_id, 4);
    bytes_put(record + HELD_AT, mark->held_ticks, 8);
}

struct record_mark record_get_mark(const uint8_t *record)
{
    struct record_mark mark;
    memcpy(mark.boot, record + MARK_BOOT_AT, RECORD_BOOT_SIZE);
    mark.counter_id = (int32_t)bytes_get32(record + MARK_COUNTER_AT);
    mark.held_ticks = bytes_get64(record + HELD_AT);
    return mark;
}

void record_put_line(uint8_t *record, const struct timeline_publication *publication,
                     enum record_part part)
{
    const struct timebase_line *line = record_line_of(&publication->lines, part);
    bytes_put(record + PUBLISHED_AT, publication->published_ticks, 8);
    bytes_put(record + LINE_START_AT, line->start_ticks, 8);
    bytes_put(record + LINE_MONO_AT, line->mono_ns, 8);
    bytes_put(record + LINE_OFFSET_AT, (uint64_t)timebase_line_utc_offset_ns(line), 8);
    bytes_put(record + LINE_FRAC_AT, line->period_frac, 8);
    bytes_put(record + LINE_PERIOD_AT, line->period_ns, 4);
    bytes_put(record + LINE_FLAGS_AT, line->flags, 4);
    bytes_put(record + LINE_MAXERROR_AT, line->maxerror_ns, 8);
    bytes_put(record + LINE_DRIFT_AT, line->drift_rate, 4);
    bytes_put(record + LINE_SLEW_RATE_AT, line->slew_rate, 4);
    bytes_put(record + LINE_UTC_MAXERROR_AT, line->utc_maxerror_ns, 8);
}

struct timebase_line record_get_line(const uint8_t *record)
{
    struct timebase_line line;
    line.start_ticks = bytes_get64(record + LINE_START_AT);
    line.mono_ns = bytes_get64(record + LINE_MONO_AT);
    line.utc_ns = line.mono_ns + bytes_get64(record + LINE_OFFSET_AT);
    line.period_frac = bytes_get64(record + LINE_FRAC_AT);
    line.period_ns = bytes_get32(record + LINE_PERIOD_AT);
    line.flags = bytes_get32(record + LINE_FLAGS_AT);
    line.maxerror_ns = bytes_get64(record + LINE_MAXERROR_AT);
    line.drift_rate = bytes_get32(record + LINE_DRIFT_AT);
    line.slew_rate = bytes_get32(record + LINE_SLEW_RATE_AT);
    line.utc_maxerror_ns = bytes_get64(record + LINE_UTC_MAXERROR_AT);
    return line;
}

uint64_t record_published_ticks(const uint8_t *record)
{
    return bytes_get64(record + PUBLISHED_AT);
}
