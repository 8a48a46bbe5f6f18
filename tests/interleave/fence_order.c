/* SPDX-License-Identifier: MIT */
/*
 * The latch's fences, by the rules of C11 and not by what this processor happens to do.
 *
 * The page's own reader and writer are compiled here with their atomic builtins replaced by ones
 * that also write down what they did. In the record, one access is ordered before another if a
 * release store, an acquire load or a fence between them says so (C11 7.17.3, 7.17.4). The four
 * orders that the protocol in page.h needs are then looked for, one by one: take away a fence
 * and its test fails, on x86 too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum kind { LOAD, STORE, FENCE };

struct event {
    enum kind kind;
    const void *address;
    int order;
};

static struct event record[4000];
static int recorded;

static void note(enum kind kind, const void *address, int order)
{
    struct event event = {kind, address, order};
    assert_true(recorded < (int)(sizeof record / sizeof record[0]));
    record[recorded++] = event;
}

#define __atomic_load_n(address, order) (note(LOAD, (address), (order)), *(address))
#define __atomic_store_n(address, value, order)                                                    \
    (note(STORE, (address), (order)), (void)(*(address) = (value)))
#define __atomic_thread_fence(order) note(FENCE, NULL, (order))

#include "clock/page/convert.c"
#include "clock/page/publish.c"

#undef __atomic_load_n
#undef __atomic_store_n
#undef __atomic_thread_fence

static int is_release(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static int is_acquire(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* Is access a, earlier in the program, also ordered before access b? */
static int is_ordered(int a, int b)
{
    if (record[a].kind == LOAD && is_acquire(record[a].order))
        return 1;
    if (record[b].kind == STORE && is_release(record[b].order))
        return 1;
    for (int i = a + 1; i < b; i++) {
        if (record[i].kind != FENCE)
            continue;
        if (is_release(record[i].order) && record[b].kind == STORE)
            return 1;
        if (is_acquire(record[i].order) && record[a].kind == LOAD)
            return 1;
    }
    return 0;
}

static struct timebase_page page;
static struct timebase_lines lines;

static int is_seq(const void *address)
{
    const char *byte = (const char *)address;
    return byte >= (const char *)&page.seq && byte < (const char *)(&page.seq + 1);
}

static int is_payload(const void *address)
{
    const char *byte = (const char *)address;
    return byte >= (const char *)&page.copy[0] && byte < (const char *)&page.copy[2];
}

static int nth_seq(enum kind kind, int n)
{
    for (int i = 0; i < recorded; i++)
        if (record[i].kind == kind && is_seq(record[i].address) && n-- == 0)
            return i;
    fail_msg("the sequence number was not touched often enough");
    return -1;
}

/* Every payload access between two places is ordered after `first` and before `last`. */
static void expect_payload_ordered(enum kind kind, int from, int to, int first, int last)
{
    int found = 0;
    for (int i = from + 1; i < to; i++) {
        if (record[i].kind != kind || !is_payload(record[i].address))
            continue;
        found++;
        assert_true(first < 0 || is_ordered(first, i));
        assert_true(last < 0 || is_ordered(i, last));
    }
    assert_true(found >= 3);
}

static void publish_twice(void)
{
    recorded = 0;
    lines.after.period_ns = lines.slew.period_ns = lines.before.period_ns = 1;
    publish_lines(&page, &lines, 1000000000);
    publish_lines(&page, &lines, 1000000000);
}

/* On 32-bit machines the number's upper half is stored first, relaxed: take the release store. */
static int release_of(int publication)
{
    for (int i = 0; i < recorded; i++)
        if (record[i].kind == STORE && is_seq(record[i].address) && is_release(record[i].order) &&
            publication-- == 0)
            return i;
    fail_msg("the sequence number is not published by a release store");
    return -1;
}

static void whoever_sees_the_number_sees_the_copy(void **state)
{
    (void)state;
    publish_twice();
    expect_payload_ordered(STORE, -1, release_of(0), -1, release_of(0));
}

static void no_word_of_a_rewrite_overtakes_the_number_before_it(void **state)
{
    (void)state;
    publish_twice();
    expect_payload_ordered(STORE, release_of(0), release_of(1), release_of(0), -1);
}

static void read_now(void)
{
    struct timebase_instant instant;
    timebase_page_read(&page, 1, TIMEBASE_WANT_ALL, &instant);
}

static void read_at(void)
{
    struct timebase_instant instant;
    timebase_page_convert(&page, 5, &instant);
}

static void read_back(void)
{
    uint64_t ticks;
    timebase_page_ticks_at_utc(&page, 5, &ticks);
}

static void (*const readers[])(void) = {read_now, read_at, read_back};
#define READERS (sizeof readers / sizeof readers[0])

static void record_reader(void (*reader)(void))
{
    publish_twice();
    page.refresh_ticks = UINT64_MAX;
    recorded = 0;
    reader();
}

static void nothing_is_read_before_the_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < READERS; i++) {
        record_reader(readers[i]);
        expect_payload_ordered(LOAD, -1, nth_seq(LOAD, 1), nth_seq(LOAD, 0), -1);
    }
}

static void the_number_is_looked_at_again_after_everything(void **state)
{
    (void)state;
    for (size_t i = 0; i < READERS; i++) {
        record_reader(readers[i]);
        expect_payload_ordered(LOAD, nth_seq(LOAD, 0), nth_seq(LOAD, 1), -1, nth_seq(LOAD, 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_sees_the_number_sees_the_copy),
        cmocka_unit_test(no_word_of_a_rewrite_overtakes_the_number_before_it),
        cmocka_unit_test(nothing_is_read_before_the_number),
        cmocka_unit_test(the_number_is_looked_at_again_after_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
