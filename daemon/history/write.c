/* SPDX-License-Identifier: MIT */
#include "write.h"

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

TIMEBASE_STATIC_ASSERT((int)TIMELINE_BEGIN == TIMEBASE_TIMELINE_KILLED &&
                           (int)TIMELINE_DISRUPTION == TIMEBASE_TIMELINE_DISRUPTED &&
                           (int)TIMELINE_END == TIMEBASE_TIMELINE_ENDED &&
                           (int)TIMELINE_LOST == TIMEBASE_TIMELINE_LOST,
                       "reasons are those of the public header");

/* Records that are written by one call, so that a publication is there as a whole or not. */
struct batch {
    uint8_t bytes[BATCH_MAX * RECORD_SIZE];
    uint32_t count;
    uint32_t sequence, run;
};

static uint32_t segment_records(const struct timeline *timeline)
{
    uint64_t size = timeline->size_max / SEGMENTS_MIN;
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

static void add_segment(struct batch *batch, const struct timeline *timeline)
{
    struct record_segment segment = {RECORD_MAGIC, RECORD_VERSION,       RECORD_SIZE,
                                     {0},          timeline->counter_id, timeline->number + 1};
    memcpy(segment.boot, timeline->boot, sizeof(segment.boot));
    record_put_segment(next_record(batch), &segment);
    add_record(batch, RECORD_SEGMENT, 0);
}

static void add_mark(struct batch *batch, const struct timeline *timeline)
{
    struct record_mark mark = {{0}, timeline->counter_id, 0};
    if (timeline->pending == TIMELINE_LOST)
        mark.held_ticks = timeline->held_ticks;
    memcpy(mark.boot, timeline->boot, sizeof(mark.boot));
    record_put_mark(next_record(batch), &mark);
    batch->run = batch->sequence + batch->count;
    add_record(batch, RECORD_MARK, (unsigned)timeline->pending);
}

static void add_publication(struct batch *batch, const struct timeline *timeline,
                            const struct publication *publication)
{
    unsigned part;
    if (timeline->has_previous && timeline->pending == 0 &&
        record_put_lines(next_record(batch), &timeline->previous, publication, &part)) {
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
static struct batch compose(const struct timeline *timeline, const struct publication *publication)
{
    struct batch batch = {.sequence = timeline->sequence, .run = timeline->run};
    if (timeline->segment < 0)
        add_segment(&batch, timeline);
    if (timeline->pending != 0)
        add_mark(&batch, timeline);
    if (publication != NULL)
        add_publication(&batch, timeline, publication);
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

static void leave_segment(struct timeline *timeline)
{
    if (timeline->segment >= 0)
        close(timeline->segment);
    timeline->segment = -1;
    timeline->has_previous = false;
}

/* Somebody has removed or cut the segment: what would be written now would not be found. */
static bool is_segment_sound(const struct timeline *timeline)
{
    struct stat status;
    return fstat(timeline->segment, &status) == 0 && status.st_nlink > 0 &&
        status.st_size == (off_t)((uint64_t)timeline->used * RECORD_SIZE);
}

/* Oldest first, until another segment fits in. */
static int make_room(struct timeline *timeline)
{
    struct folder_summary summary;
    uint64_t more = (uint64_t)segment_records(timeline) * RECORD_SIZE;
    int error = folder_summarise(timeline->folder, &summary);
    while (error == TIMEBASE_OK && summary.count > 0 && summary.size + more > timeline->size_max) {
        char name[SEGMENT_NAME_SIZE];
        segment_name(summary.oldest, name);
        if (unlinkat(timeline->folder, name, 0) != 0)
            return folder_error(errno);
        error = folder_summarise(timeline->folder, &summary);
    }
    timeline->size = summary.size;
    return error;
}

static int begin_segment(struct timeline *timeline, const struct batch *batch)
{
    char name[SEGMENT_NAME_SIZE];
    int error = make_room(timeline);
    if (error != TIMEBASE_OK)
        return error;
    if (timeline->number >= SEGMENT_NUMBER_MAX)
        return TIMEBASE_E_RESOURCE;
    segment_name(timeline->number + 1, name);
    int fd =
        openat(timeline->folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return folder_error(errno);
    if (fchmod(fd, 0644) != 0 || !write_whole(fd, batch->bytes, batch->count * RECORD_SIZE, 0)) {
        error = folder_error(errno);
        close(fd);
        unlinkat(timeline->folder, name, 0);
        return error;
    }
    timeline->segment = fd;
    timeline->number++;
    timeline->used = 0;
    return TIMEBASE_OK;
}

/* A batch that does not fit on the disk is taken back, or else the segment ends with its rest. */
static int continue_segment(struct timeline *timeline, const struct batch *batch)
{
    uint64_t end = (uint64_t)timeline->used * RECORD_SIZE;
    if (write_whole(timeline->segment, batch->bytes, batch->count * RECORD_SIZE, end))
        return TIMEBASE_OK;
    int error = folder_error(errno);
    if (ftruncate(timeline->segment, (off_t)end) != 0)
        leave_segment(timeline);
    return error;
}

/* The mark that is due, and the publication if there is one: both, or nothing. */
static int put(struct timeline *timeline, const struct publication *publication)
{
    if (timeline->segment >= 0 &&
        (timeline->used + BATCH_MAX > segment_records(timeline) || !is_segment_sound(timeline)))
        leave_segment(timeline);
    struct batch batch = compose(timeline, publication);
    int error = timeline->segment < 0 ? begin_segment(timeline, &batch)
                                      : continue_segment(timeline, &batch);
    if (error != TIMEBASE_OK)
        return error;
    timeline->has_previous = publication != NULL || (timeline->has_previous && !timeline->pending);
    timeline->used += batch.count;
    timeline->size += batch.count * RECORD_SIZE;
    timeline->sequence += batch.count;
    timeline->run = batch.run;
    timeline->pending = 0;
    if (publication != NULL)
        timeline->previous = *publication;
    return TIMEBASE_OK;
}

/* Of two things to be marked at one place, the one that says more. */
static int stronger(int pending, int reason)
{
    static const int strength[] = {0, 1, 4, 2, 3}; /* nothing, BEGIN, DISRUPTION, END, LOST */
    return strength[reason] > strength[pending] ? reason : pending;
}

static bool went_back(const struct timeline *timeline, uint64_t published_ticks)
{
    return timeline->has_previous &&
        (int64_t)(published_ticks - timeline->previous.published_ticks) < 0;
}

int timeline_append(struct timeline *timeline, const struct timebase_lines *lines,
                    uint64_t published_ticks)
{
    struct publication publication = {published_ticks, *lines};
    if (went_back(timeline, published_ticks))
        timeline->pending = stronger(timeline->pending, TIMELINE_DISRUPTION);
    int error = put(timeline, &publication);
    if (error != TIMEBASE_OK && timeline->pending == 0) {
        timeline->pending = TIMELINE_LOST;
        timeline->held_ticks = published_ticks;
    }
    return error;
}

int timeline_mark(struct timeline *timeline, enum timeline_reason reason)
{
    if (reason < TIMELINE_BEGIN || reason > TIMELINE_END)
        return TIMEBASE_E_INVALID;
    timeline->pending = stronger(timeline->pending, reason);
    int error = put(timeline, NULL);
    if (error == TIMEBASE_OK && reason == TIMELINE_END)
        timeline->pending = TIMELINE_BEGIN; /* should more come after all */
    return error;
}

uint64_t timeline_size(const struct timeline *timeline)
{
    return timeline->size;
}

void timeline_close(struct timeline *timeline)
{
    leave_segment(timeline);
    if (timeline->folder >= 0)
        close(timeline->folder);
    timeline->folder = -1;
}

static int open_in(struct timeline *timeline)
{
    if (flock(timeline->folder, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? TIMEBASE_E_BUSY : TIMEBASE_E_RESOURCE;
    if (faccessat(timeline->folder, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return TIMEBASE_E_PERMISSION;
    struct folder_summary summary;
    int error = folder_summarise(timeline->folder, &summary);
    if (error != TIMEBASE_OK || summary.count == 0)
        return error;
    timeline->size = summary.size;
    timeline->number = summary.newest;
    return resume(timeline, summary.oldest, segment_records(timeline) - BATCH_MAX);
}

int timeline_open_boot(struct timeline *timeline, const char *folder, uint64_t size_max,
                       int counter_id, const uint8_t boot[RECORD_BOOT_SIZE])
{
    static const struct timeline empty;
    *timeline = empty;
    timeline->folder = timeline->segment = -1;
    if (folder == NULL || size_max < TIMELINE_SIZE_MIN)
        return TIMEBASE_E_INVALID;
    timeline->size_max = size_max;
    timeline->counter_id = counter_id;
    timeline->pending = TIMELINE_BEGIN;
    memcpy(timeline->boot, boot, RECORD_BOOT_SIZE);
    int fd = folder_open_or_make(folder);
    if (fd < 0)
        return fd;
    timeline->folder = fd;
    int error = open_in(timeline);
    if (error != TIMEBASE_OK)
        timeline_close(timeline);
    return error;
}

int timeline_open(struct timeline *timeline, const char *folder, uint64_t size_max, int counter_id)
{
    uint8_t boot[RECORD_BOOT_SIZE] = {0};
    int error = boot_id(boot);
    if (error != TIMEBASE_OK) {
        timeline->folder = timeline->segment = -1;
        return error;
    }
    return timeline_open_boot(timeline, folder, size_max, counter_id, boot);
}
