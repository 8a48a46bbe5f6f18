/* SPDX-License-Identifier: MIT */
/*
 * The log of releases between two threads, with 32-bit numbers about to wrap: the reader sees every
 * entry whole, in order, and what it does not see was counted as lost.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>

#include "timing/calendar/account.h"
#include "threads.h"

#define CAPACITY 8
#define FIRST (UINT32_MAX - 1000)

static struct timebase_release entries[CAPACITY];
static struct timebase_release_log ring;
static int is_over;
static uint64_t releases;

/* All of an entry follows from its number, so that a mixture of two shows. */
static struct timebase_release entry_of(uint64_t number)
{
    struct timebase_release release = {(uint32_t)number,
                                       (uint32_t)number + 1,
                                       number,
                                       number + 2,
                                       (int64_t)number + 3,
                                       (int64_t)number + 4,
                                       (float)(number % 1024),
                                       (uint32_t)number + 6};
    return release;
}

static int is_whole(const struct timebase_release *a)
{
    struct timebase_release b = entry_of(a->number);
    return a->unit == b.unit && a->outcome == b.outcome && a->count == b.count &&
        a->target_ns == b.target_ns && a->end_ns == b.end_ns && a->error_ns == b.error_ns &&
        a->disturbance == b.disturbance;
}

/* So that most entries are read and not lost; but not for ever, should the reader not be running.
 */
static void wait_for_room(void)
{
    for (int i = 0; i < 2000; i++)
        if (ring.written - __atomic_load_n(&ring.read, __ATOMIC_RELAXED) < CAPACITY)
            return;
    sched_yield();
}

static void *write_all(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < releases; i++) {
        struct timebase_release release = entry_of(i);
        if (i % 64 < 48)
            wait_for_room();
        account_log(&ring, &release);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    return NULL;
}

struct reading {
    uint64_t seen, torn, disordered;
};

static void read_present(struct reading *reading, uint64_t *next)
{
    uint32_t written = __atomic_load_n(&ring.written, __ATOMIC_ACQUIRE);
    uint32_t read = __atomic_load_n(&ring.read, __ATOMIC_RELAXED);
    for (; written - read > 0; read++) {
        struct timebase_release copy = entries[read % CAPACITY];
        reading->torn += (uint64_t)!is_whole(&copy);
        reading->disordered += copy.number < *next;
        *next = copy.number + 1;
        reading->seen++;
        __atomic_store_n(&ring.read, read + 1, __ATOMIC_RELEASE);
    }
}

static void the_reader_sees_whole_entries_in_order_or_they_are_counted_as_lost(void **state)
{
    struct reading reading = {0, 0, 0};
    uint64_t next = 0;
    (void)state;
    releases = threads_reads(1000000);
    ring.entries = entries;
    ring.capacity = CAPACITY;
    ring.written = ring.read = FIRST;
    threads_pin(0);
    pthread_t writer = threads_start(1, write_all, NULL);
    /* Mostly at the writer's heels; now and then with a full ring. */
    for (unsigned looks = 0; !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE); looks++) {
        read_present(&reading, &next);
        if (looks % 4096 == 0)
            sched_yield();
    }
    pthread_join(writer, NULL);
    read_present(&reading, &next);
    print_message("%llu of %llu seen\n", (unsigned long long)reading.seen,
                  (unsigned long long)releases);
    assert_int_equal(reading.torn, 0);
    assert_int_equal(reading.disordered, 0);
    assert_int_equal(reading.seen + ring.lost, releases);
    assert_true(reading.seen > CAPACITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reader_sees_whole_entries_in_order_or_they_are_counted_as_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
