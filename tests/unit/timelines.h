/* SPDX-License-Identifier: MIT */
/*
 * timelines: a writer in virtual time. A reference that changes its pace, the discipline that
 * follows it, a page on which its lines are published, and the timeline to which they are appended;
 * and a temporary folder for it.
 */
#ifndef TEST_TIMELINES_H
#define TEST_TIMELINES_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <timebase/timeline.h>

#include "clock/page/publish.h"
#include "simulated_line.h"
#include "daemon/timeline/writer.h"

#define MS ((uint64_t)1000000)
#define INTERVAL_NS (250 * MS)
#define LEAD_NS (30 * MS)
#define SIZE_MAX_BYTES ((uint64_t)1 << 30)

static const uint8_t boot_a[16] = {0xa, 1, 2, 3}, boot_b[16] = {0xb, 1, 2, 3};

struct folder {
    char path[64];
};

static inline struct folder folder_new(void)
{
    struct folder folder;
    strcpy(folder.path, "/tmp/timebase-timeline-XXXXXX");
    assert_non_null(mkdtemp(folder.path));
    return folder;
}

static inline int remove_one(const char *path, const struct stat *status, int flag,
                             struct FTW *where)
{
    (void)status, (void)flag, (void)where;
    return remove(path);
}

static inline void folder_remove(const struct folder *folder)
{
    nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void file_path(const struct folder *folder, uint32_t number, char path[96])
{
    snprintf(path, 96, "%s/%08u.tbl", folder->path, number);
}

struct scene {
    struct dice dice;
    struct simulated_line line;
    struct discipline discipline;
    struct timebase_page page;
    struct timebase_lines lines; /* published last */
    uint64_t published_ticks;
    bool is_late; /* publish behind the begin of the lines */
};

static inline struct scene scene_new(uint32_t period_ns, uint64_t period_frac)
{
    struct scene scene = {.dice = dice_new(), .line = simulated_new(period_ns, period_frac)};
    publish_begin(&scene.page, TIMEBASE_ARCH_COUNTER);
    return scene;
}

/* What a reference does within a thousand parts in a million, and a step of UTC now and then. */
static inline void scene_disturb(struct scene *scene)
{
    struct fixed period = scene->line.period;
    struct fixed part = fixed_over(period, 20000 + dice_below(&scene->dice, 1000000));
    if (dice_below(&scene->dice, 20) == 0)
        simulated_change_pace(&scene->line,
                              dice_below(&scene->dice, 2) ? fixed_add(period, part)
                                                          : fixed_subtract(period, part));
    if (dice_below(&scene->dice, 100) == 0)
        scene->line.utc_offset_ns += (int64_t)dice_below(&scene->dice, 2000000000) - 1000000000;
}

/* The next lines of the discipline, published as the daemon does it: ahead by a lease. */
static inline bool scene_publish(struct scene *scene)
{
    struct discipline_sample sample = simulated_disturbed_sample(&scene->line, &scene->dice);
    sample.maxerror_ns = (int64_t)dice_below(&scene->dice, 20000000);
    discipline_observe(&scene->discipline, &sample);
    if (!discipline_is_ready(&scene->discipline))
        return false;
    struct schedule schedule = {.now_ticks = scene->line.now_ticks,
                                .lead_ns = LEAD_NS,
                                .slew_ns = INTERVAL_NS * 3 / 10,
                                .slew_max_ns = INTERVAL_NS * 8 / 10,
                                .horizon_ns = 2 * INTERVAL_NS};
    struct discipline_output output =
        discipline_plan(&scene->discipline, &schedule, scene->line.now_ticks);
    if (scene->is_late)
        simulated_wait(&scene->line, LEAD_NS + dice_below(&scene->dice, 90 * MS));
    publish_lines(&scene->page, &output.lines, output.refresh_ticks);
    discipline_commit(&scene->discipline, &output);
    scene->lines = output.lines;
    scene->published_ticks = scene->line.now_ticks;
    return true;
}

/* On to the next publication, 250 ms later; a daemon is not more punctual than that. */
static inline void scene_wait(struct scene *scene)
{
    simulated_wait(&scene->line, INTERVAL_NS - dice_below(&scene->dice, 40 * MS));
    scene_disturb(scene);
}

/* Publish and append until the writer has done so `count` times. */
static inline void scene_append(struct scene *scene, struct timeline_writer *timeline,
                                unsigned count)
{
    while (count > 0) {
        scene_wait(scene);
        if (!scene_publish(scene))
            continue;
        assert_int_equal(timeline_writer_append(timeline, &scene->lines, scene->published_ticks),
                         0);
        count--;
    }
}

/* Readings that were given at some moment, to be asked for again. */
struct readings {
    struct timebase_instant *items;
    size_t count, room;
};

static inline void readings_add(struct readings *readings, const struct timebase_instant *instant)
{
    if (readings->count == readings->room) {
        readings->room = readings->room == 0 ? 1024 : 2 * readings->room;
        readings->items = realloc(readings->items, readings->room * sizeof(*readings->items));
        assert_non_null(readings->items);
    }
    readings->items[readings->count++] = *instant;
}

/* Read at `count` ticks, anywhere from the publication to 200 ms after it; in their order. */
static inline void scene_read(struct scene *scene, struct readings *readings, unsigned count)
{
    uint64_t most = fixed_ticks(scene->line.period, INTERVAL_NS - 50 * MS) / (count + 1);
    uint64_t ticks = scene->published_ticks;
    for (unsigned i = 0; i < count; i++) {
        struct timebase_instant instant = {0};
        assert_true(timebase_page_convert(&scene->page, ticks, &instant));
        readings_add(readings, &instant);
        ticks += dice_below(&scene->dice, most) + 1;
    }
}

static inline bool is_same_instant(const struct timebase_instant *a,
                                   const struct timebase_instant *b)
{
    return a->ticks == b->ticks && a->mono_ns == b->mono_ns && a->utc_ns == b->utc_ns &&
        a->maxerror_ns == b->maxerror_ns && a->utc_maxerror_ns == b->utc_maxerror_ns &&
        a->flags == b->flags;
}

static inline timebase_timeline *reader_open(const struct folder *folder)
{
    timebase_timeline *reader = NULL;
    int error = timebase_timeline_open(&reader, folder->path);
    if (error != 0)
        fail_msg("timebase_timeline_open: %s", timebase_strerror(error));
    return reader;
}

static inline void assert_reading(timebase_timeline *reader, const struct timebase_instant *wanted)
{
    struct timebase_instant got;
    int error = timebase_timeline_at(reader, NULL, wanted->ticks, &got);
    if (error != 0)
        fail_msg("tick %llu: %s", (unsigned long long)wanted->ticks, timebase_strerror(error));
    if (!is_same_instant(&got, wanted))
        fail_msg("tick %llu: %lld is not %lld, +/- %llu is not %llu, flags %x are not %x",
                 (unsigned long long)got.ticks, (long long)got.utc_ns, (long long)wanted->utc_ns,
                 (unsigned long long)got.maxerror_ns, (unsigned long long)wanted->maxerror_ns,
                 got.flags, wanted->flags);
}

static inline void assert_readings(timebase_timeline *reader, const struct readings *readings)
{
    for (size_t i = 0; i < readings->count; i++)
        assert_reading(reader, &readings->items[i]);
}

static inline int error_at(timebase_timeline *reader, uint64_t ticks)
{
    struct timebase_instant instant;
    return timebase_timeline_at(reader, NULL, ticks, &instant);
}

static inline void scene_live(struct scene *scene, struct timeline_writer *timeline,
                              struct readings *readings, unsigned publications)
{
    for (unsigned i = 0; i < publications; i++) {
        scene_append(scene, timeline, 1);
        scene_read(scene, readings, 2);
    }
}

/* A timeline that is written, and what was read by its lines meanwhile. */
struct log {
    struct folder folder;
    struct scene scene;
    struct timeline_writer timeline;
    struct readings readings;
};

static inline void log_begin(struct log *log, const uint8_t *boot)
{
    assert_int_equal(
        timeline_writer_open_boot(&log->timeline, log->folder.path, SIZE_MAX_BYTES, 1, boot), 0);
}

static inline struct log log_open(void)
{
    struct log log = {folder_new(), scene_new(0, 0x5555555555555555u), {0}, {0}};
    log_begin(&log, boot_a);
    return log;
}

static inline void log_live(struct log *log, unsigned publications)
{
    scene_live(&log->scene, &log->timeline, &log->readings, publications);
}

/* The writer ends, in some way, and another one begins. */
static inline void log_reopen(struct log *log, const uint8_t *boot)
{
    timeline_writer_close(&log->timeline);
    log_begin(log, boot);
}

/* Its writer has ended. */
static inline void log_remove(struct log *log)
{
    free(log->readings.items);
    folder_remove(&log->folder);
}

static inline void log_close(struct log *log)
{
    timeline_writer_close(&log->timeline);
    log_remove(log);
}

#endif
