/* SPDX-License-Identifier: MIT */
/* Every vector of spec/timeline.md: spec/vectors/timeline.json, made by spec/make-vectors. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <timebase.h>

struct vector_segment {
    const char *name;
    const uint8_t *bytes;
    size_t size;
};

/* A tick, and all that it says, times modulo 2^64; or the error. */
struct vector_read {
    const uint8_t *boot;
    int error;
    uint64_t ticks, mono_ns, utc_ns, maxerror_ns, utc_maxerror_ns;
    uint32_t flags;
};

struct vector {
    const char *name;
    const struct vector_segment *segments;
    size_t segment_count;
    const struct vector_read *reads;
    size_t read_count;
};

#include "timeline.inc"

#define VECTOR_COUNT (sizeof(vectors) / sizeof(vectors[0]))

static void path_of(const char *folder, const char *name, char path[96])
{
    snprintf(path, 96, "%s/%s", folder, name);
}

static void store(const char *folder, const struct vector *vector)
{
    char path[96];
    for (size_t i = 0; i < vector->segment_count; i++) {
        const struct vector_segment *segment = &vector->segments[i];
        path_of(folder, segment->name, path);
        int fd = open(path, O_CREAT | O_WRONLY, 0644);
        assert_true(write(fd, segment->bytes, segment->size) == (ssize_t)segment->size);
        close(fd);
    }
}

static void discard(const char *folder, const struct vector *vector)
{
    char path[96];
    for (size_t i = 0; i < vector->segment_count; i++) {
        path_of(folder, vector->segments[i].name, path);
        unlink(path);
    }
    rmdir(folder);
}

static void expect(const struct vector *vector, const struct vector_read *read, const char *what,
                   uint64_t got, uint64_t wanted)
{
    if (got != wanted)
        fail_msg("%s, tick %" PRIu64 ": %s is %" PRId64 ", not %" PRId64, vector->name, read->ticks,
                 what, (int64_t)got, (int64_t)wanted);
}

static void try_read(timebase_timeline *timeline, const struct vector *vector,
                     const struct vector_read *read)
{
    struct timebase_instant got;
    int error = timebase_timeline_at(timeline, read->boot, read->ticks, &got);
    expect(vector, read, "error", (uint64_t)error, (uint64_t)read->error);
    if (error != TIMEBASE_OK)
        return;
    expect(vector, read, "mono_ns", (uint64_t)got.mono_ns, read->mono_ns);
    expect(vector, read, "utc_ns", (uint64_t)got.utc_ns, read->utc_ns);
    expect(vector, read, "maxerror_ns", got.maxerror_ns, read->maxerror_ns);
    expect(vector, read, "utc_maxerror_ns", got.utc_maxerror_ns, read->utc_maxerror_ns);
    expect(vector, read, "flags", got.flags, read->flags);
}

static void ticks_mean_what_the_specification_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        char folder[] = "/tmp/timebase-vectors-XXXXXX";
        timebase_timeline *timeline;
        assert_non_null(mkdtemp(folder));
        store(folder, &vectors[i]);
        assert_int_equal(timebase_timeline_open(&timeline, folder), TIMEBASE_OK);
        assert_true(vectors[i].read_count > 20);
        for (size_t j = 0; j < vectors[i].read_count; j++)
            try_read(timeline, &vectors[i], &vectors[i].reads[j]);
        for (size_t j = vectors[i].read_count; j-- > 0;) /* and without the last look at hand */
            try_read(timeline, &vectors[i], &vectors[i].reads[j]);
        timebase_timeline_close(timeline);
        discard(folder, &vectors[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_mean_what_the_specification_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
