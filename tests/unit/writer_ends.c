/* SPDX-License-Identifier: MIT */
/*
 * A writer of a page ends before each of its stores. Readers get the old publication or the new
 * one, whole, and the next writer goes on from there. system/writer_killed does this at each
 * instruction, but not where no child can be stepped. Between two stores nothing changes that a
 * reader could see.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

/* ---- the writer's stores, counted: before the code that makes them --------------------------- */

static unsigned stores, stores_max;
static jmp_buf end;

static void count_store(void)
{
    if (stores++ == stores_max)
        longjmp(end, 1);
}

#define __atomic_store_n(address, value, order) (count_store(), (void)(*(address) = (value)))

#include "clock/page/publish.c"

#include "../system/numbered_writer.h"

/* ---- the test -------------------------------------------------------------------------------- */

static struct timebase_page page;
static uint64_t origin;

/* Publishes NEW on the old page, up to so many stores; how many there were. */
static unsigned publish_up_to(unsigned limit)
{
    stores_max = (unsigned)-1;
    old_page(&page, origin);
    stores = 0;
    stores_max = limit;
    if (setjmp(end) == 0)
        publish_number(&page, origin, NEW);
    stores_max = (unsigned)-1;
    return stores;
}

static void readers_see_the_old_or_the_new_after_each_store(void **state)
{
    unsigned all = publish_up_to((unsigned)-1);
    int64_t number = OLD;
    (void)state;
    assert_int_equal(seen_number(&page, origin), NEW);
    for (unsigned limit = 0; limit <= all; limit++) {
        publish_up_to(limit);
        int64_t now = seen_number(&page, origin);
        assert_true(now == number || now == number + 1);
        number = now;
    }
    assert_int_equal(number, NEW);
}

static void the_next_writer_goes_on_wherever_the_last_has_ended(void **state)
{
    unsigned all = publish_up_to((unsigned)-1);
    (void)state;
    for (unsigned limit = 0; limit <= all; limit++) {
        publish_up_to(limit);
        for (int64_t next = seen_number(&page, origin) + 1; next <= NEXT + 1; next++) {
            publish_number(&page, origin, (uint64_t)next);
            assert_int_equal(seen_number(&page, origin), next);
        }
    }
    print_message("ended before each of %u stores\n", all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_see_the_old_or_the_new_after_each_store),
        cmocka_unit_test(the_next_writer_goes_on_wherever_the_last_has_ended),
    };
    origin = timebase_arch_ticks_ordered();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
