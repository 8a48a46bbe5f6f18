/* SPDX-License-Identifier: MIT */
#include "segment.h"

#include <string.h>
#include <unistd.h>

#include <timebase/error.h>

#include "bytes.h"
#include "folder.h"
#include "record_lines.h"

static const uint8_t *record_at(struct timeline_segment *segment, uint32_t index)
{
    if (index - segment->block >= segment->block_count) {
        uint32_t block = index - index % SEGMENT_BLOCK;
        long got = segment_file_read(segment->fd, segment->bytes, sizeof(segment->bytes),
                                     (uint64_t)block * RECORD_SIZE);
        segment->block = block;
        segment->block_count = got > 0 ? (uint32_t)got / RECORD_SIZE : 0;
        if (index - segment->block >= segment->block_count)
            return NULL;
    }
    return segment->bytes + (index - segment->block) * RECORD_SIZE;
}

const uint8_t *segment_record(struct timeline_segment *segment, uint32_t index)
{
    const uint8_t *record = index < segment->count ? record_at(segment, index) : NULL;
    if (record == NULL || !record_is_whole(record) ||
        record_head(record).sequence != segment->sequence + index)
        return NULL;
    return record;
}

/*
 * A crash can leave a file that begins with zeros, or one that is shorter than its first record.
 * Any other file without the magic is not ours.
 */
static int judge_torn(const uint8_t *record, uint64_t size)
{
    uint64_t magic = size >= 24 ? bytes_get64(record + 16) : 0;
    return magic == 0 || magic == RECORD_MAGIC ? SEGMENT_TORN : SEGMENT_FOREIGN;
}

static int open_first(struct timeline_segment *segment)
{
    uint8_t record[RECORD_SIZE] = {0};
    if (segment_file_read(segment->fd, record, sizeof(record), 0) < 0)
        return TIMEBASE_E_RESOURCE;
    if (!record_is_whole(record))
        return judge_torn(record, segment->size);
    struct record_head head = record_head(record);
    segment->first = record_get_segment(record);
    segment->sequence = head.sequence;
    if (segment->first.magic != RECORD_MAGIC)
        return SEGMENT_FOREIGN;
    if (segment->first.version != RECORD_VERSION || segment->first.record_size != RECORD_SIZE)
        return TIMEBASE_E_FORMAT;
    /* Not in its place: a copy under another name. */
    bool is_first = head.type == RECORD_SEGMENT && segment->first.number == segment->number;
    return is_first ? TIMEBASE_OK : SEGMENT_FOREIGN;
}

int segment_open(struct timeline_segment *segment, int folder, uint32_t number, int flags)
{
    segment->size = 0;
    int fd = segment_file_open(folder, number, flags, &segment->size);
    if (fd < 0)
        return fd == TIMEBASE_E_FORMAT ? SEGMENT_FOREIGN : fd;
    uint64_t seen = segment->size < SEGMENT_SIZE_LIMIT ? segment->size : SEGMENT_SIZE_LIMIT;
    segment->fd = fd;
    segment->number = number;
    segment->count = (uint32_t)(seen / RECORD_SIZE);
    segment->block = segment->block_count = 0;
    int error = open_first(segment);
    if (error != TIMEBASE_OK)
        segment_close(segment);
    return error;
}

void segment_close(struct timeline_segment *segment)
{
    if (segment->fd >= 0)
        close(segment->fd);
    segment->fd = -1;
}

uint32_t segment_end(struct timeline_segment *segment)
{
    for (uint32_t end = segment->count; end > 1; end--) {
        const uint8_t *record = segment_record(segment, end - 1);
        struct record_head head;
        if (record == NULL)
            continue;
        head = record_head(record);
        if (head.type != RECORD_LINE || head.part == RECORD_AFTER)
            return end;
    }
    return 1;
}

/* Part `part` of a publication in three, of which some other part was published at this tick. */
static bool get_part(struct timeline_segment *segment, uint32_t index, enum record_part part,
                     uint64_t published_ticks, struct timebase_line *line)
{
    const uint8_t *record = segment_record(segment, index);
    if (record == NULL || record_head(record).type != RECORD_LINE ||
        record_head(record).part != part || record_published_ticks(record) != published_ticks)
        return false;
    *line = record_get_line(record);
    return true;
}

static bool get_three(struct timeline_segment *segment, uint32_t first,
                      struct timeline_publication *publication)
{
    struct timebase_lines *lines = &publication->lines;
    uint64_t published = publication->published_ticks;
    return get_part(segment, first, RECORD_BEFORE, published, &lines->before) &&
        get_part(segment, first + 1, RECORD_SLEW, published, &lines->slew) &&
        get_part(segment, first + 2, RECORD_AFTER, published, &lines->after);
}

/* The line that the next publication took for its `before`; its own publication ends at `last`. */
static bool get_referred(struct timeline_segment *segment, uint32_t last, unsigned part,
                         struct timebase_line *line)
{
    const uint8_t *record = segment_record(segment, last);
    if (record == NULL || (part != RECORD_SLEW && part != RECORD_AFTER))
        return false;
    if (record_head(record).type == RECORD_LINE)
        return get_part(segment, part == RECORD_SLEW ? last - 1 : last, (enum record_part)part,
                        record_published_ticks(record), line);
    if (record_head(record).type != RECORD_LINES)
        return false;
    struct timebase_lines lines;
    record_get_lines(record, &lines);
    *line = part == RECORD_SLEW ? lines.slew : lines.after;
    return true;
}

bool segment_publication(struct timeline_segment *segment, uint32_t index,
                         struct timeline_publication *publication)
{
    const uint8_t *found = segment_record(segment, index);
    if (found == NULL)
        return false;
    struct record_head head = record_head(found);
    publication->published_ticks = record_published_ticks(found);
    if (head.type == RECORD_LINE && head.part <= RECORD_AFTER)
        return get_three(segment, index - head.part, publication);
    if (head.type != RECORD_LINES)
        return false;
    uint8_t record[RECORD_SIZE]; /* the next look may replace the block */
    struct timebase_line line;
    memcpy(record, found, sizeof(record));
    if (!get_referred(segment, index - 1, head.part, &line))
        return false;
    record_get_lines(record, &publication->lines);
    record_get_before(record, &line, &publication->lines);
    return true;
}
