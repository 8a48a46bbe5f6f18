/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include <string.h>

#include "timeline/record_lines.h"

static uint8_t *next_record(struct batch *batch)
{
    return batch->bytes + batch->count * RECORD_SIZE;
}

static void add_record(struct batch *batch, unsigned type, unsigned part)
{
    struct record_head head = {type, part, batch->sequence + batch->count, batch->run};
    record_seal(next_record(batch), &head);
    batch->count++;
}

static void add_segment(struct batch *batch, const struct timeline_writer *writer)
{
    struct record_segment segment = {RECORD_MAGIC, RECORD_VERSION,     RECORD_SIZE,
                                     {0},          writer->counter_id, writer->number + 1};
    memcpy(segment.boot, writer->boot, sizeof(segment.boot));
    record_put_segment(next_record(batch), &segment);
    add_record(batch, RECORD_SEGMENT, 0);
}

static void add_mark(struct batch *batch, const struct timeline_writer *writer)
{
    struct record_mark mark = {{0}, writer->counter_id, 0};
    if (writer->pending == TIMELINE_MARK_LOST)
        mark.held_ticks = writer->held_ticks;
    memcpy(mark.boot, writer->boot, sizeof(mark.boot));
    record_put_mark(next_record(batch), &mark);
    batch->run = batch->sequence + batch->count;
    add_record(batch, RECORD_MARK, (unsigned)writer->pending);
}

static void add_publication(struct batch *batch, const struct timeline_writer *writer,
                            const struct timeline_publication *publication)
{
    unsigned part;
    if (writer->has_previous && writer->pending == 0 &&
        record_put_lines(next_record(batch), &writer->previous, publication, &part)) {
        add_record(batch, RECORD_LINES, part);
        return;
    }
    for (part = RECORD_BEFORE; part <= RECORD_AFTER; part++) {
        memset(next_record(batch), 0, RECORD_SIZE);
        record_put_line(next_record(batch), publication, (enum record_part)part);
        add_record(batch, RECORD_LINE, part);
    }
}

struct batch batch_compose(const struct timeline_writer *writer,
                           const struct timeline_publication *publication)
{
    struct batch batch = {.sequence = writer->sequence, .run = writer->run};
    if (writer->segment < 0)
        add_segment(&batch, writer);
    if (writer->pending != 0)
        add_mark(&batch, writer);
    if (publication != NULL)
        add_publication(&batch, writer, publication);
    return batch;
}
