/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <timebase/error.h>
#include <timebase/timeline.h>

#include "boot.h"
#include "timeline/folder.h"
#include "resume.h"

#define SEGMENT_SIZE_MAX ((uint64_t)1 << 20)
#define SEGMENTS_MIN 8 /* so little of the history goes at once */
#define BATCH_MAX 5    /* the segment's first record, a mark, three lines */

TIMEBASE_STATIC_ASSERT((int)HISTORY_BEGIN == TIMEBASE_TIMELINE_KILLED &&
                           (int)HISTORY_DISRUPTION == TIMEBASE_TIMELINE_DISRUPTED &&
                           (int)HISTORY_END == TIMEBASE_TIMELINE_ENDED &&
                           (int)HISTORY_LOST == TIMEBASE_TIMELINE_LOST,
                       "reasons are those of the public header");

/* Records that are written by one call, so that a publication is there as a whole or not. */
struct batch {
    uint8_t bytes[BATCH_MAX * RECORD_SIZE];
    uint32_t count;
    uint32_t sequence, run;
};

static uint32_t segment_records(const struct history_writer *writer)
{
    uint64_t size = writer->size_max / SEGMENTS_MIN;
    return (uint32_t)((size < SEGMENT_SIZE_MAX ? size : SEGMENT_SIZE_MAX) / RECORD_SIZE);
}

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

static void add_segment(struct batch *batch, const struct history_writer *writer)
{
    struct record_segment segment = {RECORD_MAGIC, RECORD_VERSION,     RECORD_SIZE,
                                     {0},          writer->counter_id, writer->number + 1};
    memcpy(segment.boot, writer->boot, sizeof(segment.boot));
    record_put_segment(next_record(batch), &segment);
    add_record(batch, RECORD_SEGMENT, 0);
}

static void add_mark(struct batch *batch, const struct history_writer *writer)
{
    struct record_mark mark = {{0}, writer->counter_id, 0};
    if (writer->pending == HISTORY_LOST)
        mark.held_ticks = writer->held_ticks;
    memcpy(mark.boot, writer->boot, sizeof(mark.boot));
    record_put_mark(next_record(batch), &mark);
    batch->run = batch->sequence + batch->count;
    add_record(batch, RECORD_MARK, (unsigned)writer->pending);
}

static void add_publication(struct batch *batch, const struct history_writer *writer,
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

/* What is to be written: in a new segment its first record, the mark that is due, the lines. */
static struct batch compose(const struct history_writer *writer,
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

static void leave_segment(struct history_writer *writer)
{
    if (writer->segment >= 0)
        close(writer->segment);
    writer->segment = -1;
    writer->has_previous = false;
}

/* False if the segment was removed or cut: a record written now would not be found. */
static bool is_segment_sound(const struct history_writer *writer)
{
    struct stat status;
    return fstat(writer->segment, &status) == 0 && status.st_nlink > 0 &&
        status.st_size == (off_t)((uint64_t)writer->used * RECORD_SIZE);
}

/* Oldest first, until another segment fits in. */
static int make_room(struct history_writer *writer)
{
    struct folder_summary summary;
    uint64_t more = (uint64_t)segment_records(writer) * RECORD_SIZE;
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

static int begin_segment(struct history_writer *writer, const struct batch *batch)
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
static int continue_segment(struct history_writer *writer, const struct batch *batch)
{
    uint64_t end = (uint64_t)writer->used * RECORD_SIZE;
    if (write_whole(writer->segment, batch->bytes, batch->count * RECORD_SIZE, end))
        return TIMEBASE_OK;
    int error = folder_error(errno);
    if (ftruncate(writer->segment, (off_t)end) != 0)
        leave_segment(writer);
    return error;
}

/* The mark that is due, and the publication if there is one: both, or nothing. */
static int put(struct history_writer *writer, const struct timeline_publication *publication)
{
    if (writer->segment >= 0 &&
        (writer->used + BATCH_MAX > segment_records(writer) || !is_segment_sound(writer)))
        leave_segment(writer);
    struct batch batch = compose(writer, publication);
    int error =
        writer->segment < 0 ? begin_segment(writer, &batch) : continue_segment(writer, &batch);
    if (error != TIMEBASE_OK)
        return error;
    writer->has_previous = publication != NULL || (writer->has_previous && !writer->pending);
    writer->used += batch.count;
    writer->size += batch.count * RECORD_SIZE;
    writer->sequence += batch.count;
    writer->run = batch.run;
    writer->pending = 0;
    if (publication != NULL)
        writer->previous = *publication;
    return TIMEBASE_OK;
}

/* Of two reasons for a mark at one place, the stronger one. */
static int stronger(int pending, int reason)
{
    static const int strength[] = {0, 1, 4, 2, 3}; /* nothing, BEGIN, DISRUPTION, END, LOST */
    return strength[reason] > strength[pending] ? reason : pending;
}

static bool went_back(const struct history_writer *writer, uint64_t published_ticks)
{
    return writer->has_previous &&
        (int64_t)(published_ticks - writer->previous.published_ticks) < 0;
}

int history_writer_append(struct history_writer *writer, const struct timebase_lines *lines,
                          uint64_t published_ticks)
{
    struct timeline_publication publication = {published_ticks, *lines};
    if (went_back(writer, published_ticks))
        writer->pending = stronger(writer->pending, HISTORY_DISRUPTION);
    int error = put(writer, &publication);
    if (error != TIMEBASE_OK && writer->pending == 0) {
        writer->pending = HISTORY_LOST;
        writer->held_ticks = published_ticks;
    }
    return error;
}

int history_writer_mark(struct history_writer *writer, enum history_mark reason)
{
    if (reason < HISTORY_BEGIN || reason > HISTORY_END)
        return TIMEBASE_E_INVALID;
    writer->pending = stronger(writer->pending, reason);
    int error = put(writer, NULL);
    if (error == TIMEBASE_OK && reason == HISTORY_END)
        writer->pending = HISTORY_BEGIN; /* should more come after all */
    return error;
}

uint64_t history_writer_size(const struct history_writer *writer)
{
    return writer->size;
}

void history_writer_close(struct history_writer *writer)
{
    leave_segment(writer);
    if (writer->folder >= 0)
        close(writer->folder);
    writer->folder = -1;
}

static int open_in(struct history_writer *writer)
{
    if (flock(writer->folder, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? TIMEBASE_E_BUSY : TIMEBASE_E_RESOURCE;
    if (faccessat(writer->folder, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return TIMEBASE_E_PERMISSION;
    struct folder_summary summary;
    int error = folder_summarise(writer->folder, &summary);
    if (error != TIMEBASE_OK || summary.count == 0)
        return error;
    writer->size = summary.size;
    writer->number = summary.newest;
    return resume(writer, summary.oldest, segment_records(writer) - BATCH_MAX);
}

int history_writer_open_boot(struct history_writer *writer, const char *folder, uint64_t size_max,
                             int counter_id, const uint8_t boot[RECORD_BOOT_SIZE])
{
    static const struct history_writer empty;
    *writer = empty;
    writer->folder = writer->segment = -1;
    if (folder == NULL || size_max < HISTORY_SIZE_MIN)
        return TIMEBASE_E_INVALID;
    writer->size_max = size_max;
    writer->counter_id = counter_id;
    writer->pending = HISTORY_BEGIN;
    memcpy(writer->boot, boot, RECORD_BOOT_SIZE);
    int fd = folder_open_or_make(folder);
    if (fd < 0)
        return fd;
    writer->folder = fd;
    int error = open_in(writer);
    if (error != TIMEBASE_OK)
        history_writer_close(writer);
    return error;
}

int history_writer_open(struct history_writer *writer, const char *folder, uint64_t size_max,
                        int counter_id)
{
    uint8_t boot[RECORD_BOOT_SIZE] = {0};
    int error = boot_id(boot);
    if (error != TIMEBASE_OK) {
        writer->folder = writer->segment = -1;
        return error;
    }
    return history_writer_open_boot(writer, folder, size_max, counter_id, boot);
}
