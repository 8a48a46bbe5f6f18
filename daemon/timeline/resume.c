/* SPDX-License-Identifier: MIT */
#include "resume.h"

#include <fcntl.h>

#include <timebase/error.h>

#include "timeline/folder.h"
#include "timeline/segment.h"
#include "writer.h"

/* The number of writers in a row that may have been killed before their first record. */
#define TORN_MAX 16

/* The newest segment that has a beginning. */
static int open_newest(const struct timeline_writer *writer, uint32_t oldest,
                       struct timeline_segment *segment)
{
    for (uint32_t back = 0; back < TORN_MAX && writer->number - back >= oldest; back++) {
        int error = segment_open(segment, writer->folder, writer->number - back, O_RDWR);
        if (error != SEGMENT_TORN && error != TIMEBASE_E_NOT_FOUND)
            return error == SEGMENT_FOREIGN ? TIMEBASE_E_FORMAT : error;
        if (writer->number == back)
            break;
    }
    return SEGMENT_TORN;
}

int resume(struct timeline_writer *writer, uint32_t oldest, uint32_t used_max)
{
    struct timeline_segment segment;
    int error = open_newest(writer, oldest, &segment);
    if (error != TIMEBASE_OK)
        return error == SEGMENT_TORN ? TIMEBASE_OK : error;
    uint32_t end = segment_end(&segment);
    writer->sequence = segment.sequence + end;
    if (segment.number != writer->number || end > used_max) {
        segment_close(&segment);
        return TIMEBASE_OK;
    }
    writer->used = end; /* if the file is longer, it is torn: the first record leaves it */
    writer->segment = segment.fd; /* the writer's from now on */
    return TIMEBASE_OK;
}
