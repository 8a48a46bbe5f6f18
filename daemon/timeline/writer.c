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
#include "output.h"
#include "timeline/folder.h"
#include "resume.h"

TIMEBASE_STATIC_ASSERT((int)TIMELINE_MARK_BEGIN == TIMEBASE_TIMELINE_KILLED &&
                           (int)TIMELINE_MARK_DISRUPTION == TIMEBASE_TIMELINE_DISRUPTED &&
                           (int)TIMELINE_MARK_END == TIMEBASE_TIMELINE_ENDED &&
                           (int)TIMELINE_MARK_LOST == TIMEBASE_TIMELINE_LOST,
                       "reasons are those of the public header");

/* The mark that is due, and the publication if there is one: both, or nothing. */
static int put(struct timeline_writer *writer, const struct timeline_publication *publication)
{
    if (writer->segment >= 0 &&
        (writer->used + BATCH_MAX > output_records(writer) || !output_is_sound(writer)))
        output_leave(writer);
    struct batch batch = batch_compose(writer, publication);
    int error =
        writer->segment < 0 ? output_begin(writer, &batch) : output_continue(writer, &batch);
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

static bool went_back(const struct timeline_writer *writer, uint64_t published_ticks)
{
    return writer->has_previous &&
        (int64_t)(published_ticks - writer->previous.published_ticks) < 0;
}

/*
 * Lines of this writer hold until the first one that is missing was published. What the writer
 * before it left holds for a lease only: it may have published what it did not write.
 */
static void note_lost(struct timeline_writer *writer, uint64_t published_ticks)
{
    if (writer->pending != TIMELINE_MARK_LOST)
        writer->held_ticks = writer->pending == 0 ? published_ticks : 0;
    writer->pending = stronger(writer->pending, TIMELINE_MARK_LOST);
}

int timeline_writer_append(struct timeline_writer *writer, const struct timebase_lines *lines,
                           uint64_t published_ticks)
{
    struct timeline_publication publication = {published_ticks, *lines};
    if (went_back(writer, published_ticks))
        writer->pending = stronger(writer->pending, TIMELINE_MARK_DISRUPTION);
    int error = put(writer, &publication);
    if (error != TIMEBASE_OK)
        note_lost(writer, published_ticks);
    return error;
}

int timeline_writer_mark(struct timeline_writer *writer, enum timeline_mark reason)
{
    if (reason < TIMELINE_MARK_BEGIN || reason > TIMELINE_MARK_END)
        return TIMEBASE_E_INVALID;
    writer->pending = stronger(writer->pending, reason);
    int error = put(writer, NULL);
    if (error == TIMEBASE_OK && reason == TIMELINE_MARK_END)
        writer->pending = TIMELINE_MARK_BEGIN; /* in case more lines come all the same */
    return error;
}

uint64_t timeline_writer_size(const struct timeline_writer *writer)
{
    return writer->size;
}

void timeline_writer_close(struct timeline_writer *writer)
{
    output_leave(writer);
    if (writer->folder >= 0)
        close(writer->folder);
    writer->folder = -1;
}

static int open_in(struct timeline_writer *writer)
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
    return resume(writer, summary.oldest, output_records(writer) - BATCH_MAX);
}

/* A missing folder is made; its parent must exist. Everybody may read, whatever the umask. */
static int open_or_make(const char *path)
{
    bool is_made = mkdir(path, 0755) == 0;
    if (!is_made && errno != EEXIST)
        return folder_error(errno);
    int fd = folder_open(path);
    if (fd >= 0 && is_made && fchmod(fd, 0755) != 0) {
        close(fd);
        return TIMEBASE_E_PERMISSION;
    }
    return fd;
}

int timeline_writer_open_boot(struct timeline_writer *writer, const char *folder, uint64_t size_max,
                              int counter_id, const uint8_t boot[RECORD_BOOT_SIZE])
{
    static const struct timeline_writer empty;
    *writer = empty;
    writer->folder = writer->segment = -1;
    if (folder == NULL || size_max < TIMELINE_SIZE_MIN)
        return TIMEBASE_E_INVALID;
    writer->size_max = size_max;
    writer->counter_id = counter_id;
    writer->pending = TIMELINE_MARK_BEGIN;
    memcpy(writer->boot, boot, RECORD_BOOT_SIZE);
    int fd = open_or_make(folder);
    if (fd < 0)
        return fd;
    writer->folder = fd;
    int error = open_in(writer);
    if (error != TIMEBASE_OK)
        timeline_writer_close(writer);
    return error;
}

int timeline_writer_open(struct timeline_writer *writer, const char *folder, uint64_t size_max,
                         int counter_id)
{
    uint8_t boot[RECORD_BOOT_SIZE] = {0};
    int error = boot_id(boot);
    if (error != TIMEBASE_OK) {
        writer->folder = writer->segment = -1;
        return error;
    }
    return timeline_writer_open_boot(writer, folder, size_max, counter_id, boot);
}
