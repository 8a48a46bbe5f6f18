/* SPDX-License-Identifier: MIT */
/* Every test vector of this machine's byte order: spec/vectors, made by spec/make-vectors. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <string.h>

#include <timebase.h>

/* One tick and all that it says; times modulo 2^64. */
struct vector_read {
    uint64_t ticks, mono_ns, utc_ns, tai_ns, maxerror_ns, utc_maxerror_ns, esterror_ns;
    uint32_t flags;
    int line; /* 0 before, 1 slew, 2 after */
    int backwards;
    int is_current;
};

/* One time, and the first tick that shows it. */
struct vector_target {
    int is_utc;
    uint64_t target_ns, ticks;
};

struct vector {
    const char *name;
    const unsigned char *bytes;
    size_t size;
    int valid;
    const struct vector_read *reads;
    size_t read_count;
    const struct vector_target *inverse;
    size_t inverse_count;
};

#include "vectors.inc"

#define VECTOR_COUNT (sizeof(vectors) / sizeof(vectors[0]))

static struct timebase_page page;

static void load(const struct vector *vector)
{
    /* A page of another version may be shorter, and lies in a file of its size. */
    assert_true(vector->size == sizeof(page) || vector->valid != 0);
    memset(&page, 0, sizeof(page));
    memcpy(&page, vector->bytes, vector->size < sizeof(page) ? vector->size : sizeof(page));
}

static void expect(uint64_t got, uint64_t wanted, const char *what, const struct vector *vector,
                   uint64_t ticks)
{
    if (got != wanted)
        fail_msg("%s, tick %" PRIu64 ": %s is %" PRIu64 " (%" PRId64 "), not %" PRIu64 " (%" PRId64
                 ")",
                 vector->name, ticks, what, got, (int64_t)got, wanted, (int64_t)wanted);
}

static void expect_instant(const struct timebase_instant *got, const struct vector *vector,
                           const struct vector_read *read)
{
    int64_t tai_ns = timebase_tai_from_utc(got->utc_ns, got->flags);
    expect((uint64_t)got->mono_ns, read->mono_ns, "mono_ns", vector, read->ticks);
    expect((uint64_t)got->utc_ns, read->utc_ns, "utc_ns", vector, read->ticks);
    expect((uint64_t)tai_ns, read->tai_ns, "tai_ns", vector, read->ticks);
    expect(got->maxerror_ns, read->maxerror_ns, "maxerror_ns", vector, read->ticks);
    expect(got->utc_maxerror_ns, read->utc_maxerror_ns, "utc_maxerror_ns", vector, read->ticks);
    expect(got->esterror_ns, read->esterror_ns, "esterror_ns", vector, read->ticks);
    expect(got->flags, read->flags, "flags", vector, read->ticks);
}

static void test_validate(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        load(&vectors[i]);
        int found = timebase_page_validate(&page);
        if (found != vectors[i].valid)
            fail_msg("%s: %d (%s), not %d", vectors[i].name, found, timebase_strerror(found),
                     vectors[i].valid);
    }
    assert_int_equal(timebase_page_validate(NULL), TIMEBASE_E_INVALID);
}

static size_t convert_all(const struct vector *vector)
{
    load(vector);
    for (size_t i = 0; i < vector->read_count; i++) {
        const struct vector_read *read = &vector->reads[i];
        struct timebase_instant instant;
        if (!timebase_page_convert(&page, read->ticks, &instant))
            fail_msg("%s: no lines", vector->name);
        expect(instant.ticks, read->ticks, "ticks", vector, read->ticks);
        expect_instant(&instant, vector, read);
    }
    return vector->read_count;
}

static void test_convert(void **state)
{
    size_t count = 0;
    (void)state;
    for (size_t i = 0; i < VECTOR_COUNT; i++)
        count += convert_all(&vectors[i]);
    print_message("%u vectors, %u ticks\n", (unsigned)VECTOR_COUNT, (unsigned)count);
    assert_true(count > 0);
}

/* The hot path: the line that a tick just read takes, and what it says there. */
static void check_now(const struct vector *vector, const struct vector_read *read)
{
    const struct timebase_lines *lines = &page.copy[page.seq & 1];
    const struct timebase_line *const named[] = {&lines->before, &lines->slew, &lines->after};
    struct timebase_instant instant;
    uint64_t d = 0;
    const struct timebase_line *line =
        timebase_page_line_now(lines, read->ticks, page.refresh_ticks, &d);
    if (!read->is_current) {
        expect(line != NULL, 0, "is_current", vector, read->ticks);
        return;
    }
    expect(line != NULL, 1, "is_current", vector, read->ticks);
    expect((uint64_t)(line - named[0]), (uint64_t)read->line, "line", vector, read->ticks);
    expect(d, read->ticks - named[read->line]->start_ticks, "d", vector, read->ticks);
    expect(0, (uint64_t)read->backwards, "backwards", vector, read->ticks);
    timebase_line_convert(line, d, TIMEBASE_WANT_ALL, &instant);
    instant.esterror_ns = timebase_lines_esterror(lines, line, d);
    expect_instant(&instant, vector, read);
}

static void test_line_now(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        load(&vectors[i]);
        for (size_t j = 0; j < vectors[i].read_count; j++)
            check_now(&vectors[i], &vectors[i].reads[j]);
    }
}

static void check_target(const struct vector *vector, const struct vector_target *target)
{
    int64_t ns = (int64_t)target->target_ns;
    uint64_t ticks = 0;
    bool has_lines = target->is_utc ? timebase_page_ticks_at_utc(&page, ns, &ticks)
                                    : timebase_page_ticks_at_mono(&page, ns, &ticks);
    expect(has_lines, 1, "has_lines", vector, target->ticks);
    expect(ticks, target->ticks, target->is_utc ? "ticks_at_utc" : "ticks_at_mono", vector,
           target->ticks);
}

static void test_inverse(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        load(&vectors[i]);
        for (size_t j = 0; j < vectors[i].inverse_count; j++)
            check_target(&vectors[i], &vectors[i].inverse[j]);
    }
}

/* Without lines nothing is converted, in either direction. */
static void test_seq_zero(void **state)
{
    struct timebase_instant instant;
    uint64_t ticks;
    (void)state;
    load(&vectors[0]);
    page.seq = 0;
    assert_true(!timebase_page_read(&page, 1, TIMEBASE_WANT_ALL, &instant));
    assert_true(!timebase_page_convert(&page, 1, &instant));
    assert_true(!timebase_page_ticks_at_mono(&page, 1, &ticks));
    assert_true(!timebase_page_ticks_at_utc(&page, 1, &ticks));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_validate), cmocka_unit_test(test_convert),
        cmocka_unit_test(test_line_now), cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_seq_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
