/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as the segments of a timeline. Checksums are put right, or else nothing
 * would get past them; the first byte says for which records.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Iinclude -Isrc \
 *         tests/fuzz/timeline.c $(find src/timeline src/clock/page src/clock/strerror.c -name "*.c") -o fuzz
 *
 * fuzz-runs: 10000
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <timebase/timeline.h>

#include "timeline/record.h"

#define SEGMENT_BYTES_MAX (64 * RECORD_SIZE)
#define SEGMENTS 2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/timebase-fuzz-XXXXXX";
static uint8_t bytes[SEGMENT_BYTES_MAX];

static void name_segment(char *path, size_t size, unsigned number)
{
    snprintf(path, size, "%s/%08u.tbl", folder, number);
}

/* At exit: libFuzzer never returns. After an abort() the folder stays, with what was read. */
static void remove_folder(void)
{
    for (unsigned number = 1; number <= SEGMENTS; number++) {
        char path[64];
        name_segment(path, sizeof(path), number);
        unlink(path);
    }
    rmdir(folder);
}

static void make_folder(void)
{
    if (mkdtemp(folder) == NULL || atexit(remove_folder) != 0)
        abort();
}

static void write_segment(unsigned number, const uint8_t *data, size_t size, uint8_t seals)
{
    char path[64];
    if (size > sizeof(bytes))
        size = sizeof(bytes);
    memcpy(bytes, data, size);
    for (size_t i = 0; i + RECORD_SIZE <= size; i += RECORD_SIZE) {
        struct record_head head = record_head(bytes + i);
        head.sequence = head.sequence % 2 ? (uint32_t)(i / RECORD_SIZE) : head.sequence;
        if (i == 0 || seals & 1u << i / RECORD_SIZE % 8)
            record_seal(bytes + i, &head);
    }
    name_segment(path, sizeof(path), number);
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    close(fd);
}

static void use(timebase_timeline *timeline, uint64_t ticks)
{
    struct timebase_timeline_boot boots[4];
    struct timebase_timeline_gap gaps[4];
    struct timebase_timeline_damage damages[4];
    struct timebase_instant instant;
    timebase_timeline_set_drawing_on(timeline, ticks & 1);
    int64_t count = timebase_timeline_boots(timeline, boots, 4);
    timebase_timeline_gaps(timeline, gaps, 4);
    timebase_timeline_damages(timeline, damages, 4);
    timebase_timeline_at(timeline, NULL, ticks, &instant);
    for (int64_t i = 0; i < count && i < 4; i++) {
        timebase_timeline_at(timeline, boots[i].id, boots[i].first_ticks + ticks % 100000,
                             &instant);
        timebase_timeline_at(timeline, boots[i].id, boots[i].last_ticks, &instant);
        timebase_timeline_ticks_at_utc(timeline, boots[i].id, boots[i].first_utc_ns + 5, &ticks);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int is_made;
    uint64_t ticks = 0;
    if (!is_made)
        make_folder();
    is_made = 1;
    if (size < 10)
        return 0;
    memcpy(&ticks, data + 1, sizeof(ticks));
    size_t half = data[9] % 2 ? (size - 10) / 2 : size - 10;
    write_segment(1, data + 10, half, data[0]);
    write_segment(2, data + 10 + half, size - 10 - half, data[0]);
    timebase_timeline *timeline;
    if (timebase_timeline_open(&timeline, folder) == 0) {
        use(timeline, ticks);
        timebase_timeline_close(timeline);
    }
    return 0;
}
