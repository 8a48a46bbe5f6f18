/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <timebase/error.h>

#include "timeline/folder.h"

#define SEGMENT_SIZE_MAX ((uint64_t)1 << 20)
#define SEGMENTS_MIN 8 /* so at most an eighth of the timeline is deleted at once */

uint32_t output_records(const struct timeline_writer *writer)
{
    uint64_t size = writer->size_max / SEGMENTS_MIN;
    return (uint32_t)((size < SEGMENT_SIZE_MAX ? size : SEGMENT_SIZE_MAX) / RECORD_SIZE);
}

static bool write_whole(int fd, const uint8_t *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t put = pwrite(fd, bytes, size, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put == 0)
            errno = ENOSPC;
        if (put <= 0)
            return false;
        bytes += put;
        size -= (size_t)put;
        offset += (uint64_t)put;
    }
    return true;
}

void output_leave(struct timeline_writer *writer)
{
    if (writer->segment >= 0)
        close(writer->segment);
    writer->segment = -1;
    writer->has_previous = false;
}

bool output_is_sound(const struct timeline_writer *writer)
{
    struct stat status;
    return fstat(writer->segment, &status) == 0 && status.st_nlink > 0 &&
        status.st_size == (off_t)((uint64_t)writer->used * RECORD_SIZE);
}

/* Oldest first, until another segment fits in. */
static int make_room(struct timeline_writer *writer)
{
    struct folder_summary summary;
    uint64_t more = (uint64_t)output_records(writer) * RECORD_SIZE;
    int error = folder_summarise(writer->folder, &summary);
    while (error == TIMEBASE_OK && summary.count > 0 && summary.size + more > writer->size_max) {
        char name[SEGMENT_NAME_SIZE];
        segment_name(summary.oldest, name);
        if (unlinkat(writer->folder, name, 0) != 0)
            return folder_error(errno);
        error = folder_summarise(writer->folder, &summary);
    }
    writer->size = summary.size;
    return error;
}

int output_begin(struct timeline_writer *writer, const struct batch *batch)
{
    char name[SEGMENT_NAME_SIZE];
    int error = make_room(writer);
    if (error != TIMEBASE_OK)
        return error;
    if (writer->number >= SEGMENT_NUMBER_MAX)
        return TIMEBASE_E_RESOURCE;
    segment_name(writer->number + 1, name);
    int fd = openat(writer->folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return folder_error(errno);
    if (fchmod(fd, 0644) != 0 || !write_whole(fd, batch->bytes, batch->count * RECORD_SIZE, 0)) {
        error = folder_error(errno);
        close(fd);
        unlinkat(writer->folder, name, 0);
        return error;
    }
    writer->segment = fd;
    writer->number++;
    writer->used = 0;
    return TIMEBASE_OK;
}

/* A batch that does not fit on the disk is cut off again; if that fails, the segment ends there. */
int output_continue(struct timeline_writer *writer, const struct batch *batch)
{
    uint64_t end = (uint64_t)writer->used * RECORD_SIZE;
    if (write_whole(writer->segment, batch->bytes, batch->count * RECORD_SIZE, end))
        return TIMEBASE_OK;
    int error = folder_error(errno);
    if (ftruncate(writer->segment, (off_t)end) != 0)
        output_leave(writer);
    return error;
}
