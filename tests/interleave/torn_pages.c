/* SPDX-License-Identifier: MIT */
/*
 * The latch: a writer rewrites the page without pause, every word of a line a function of one
 * number; a reader never sees words of two publications, nor an older one after a newer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock/page/publish.h"
#include "threads.h"
#include "../unit/never_expires.h"

#include <timebase/page.h>

static struct timebase_page page;
static int stop;

/*
 * A line that starts at tick 0 with a period of zero: whatever the tick, it shows its words.
 * mono = n, UTC = 2n, maxerror = 3n, utc_maxerror = 7n, esterror = 5n, flags = n's lower bits.
 */
static void make(uint64_t n, struct timebase_line *line)
{
    struct timebase_line made = {0};
    made.mono_ns = n;
    made.utc_ns = 2 * n;
    made.maxerror_ns = 3 * n;
    made.utc_maxerror_ns = 4 * n;
    made.flags = (uint32_t)n;
    *line = made;
}

static struct timebase_validity validity_of(uint64_t n)
{
    struct timebase_validity validity = NEVER_EXPIRES;
    validity.before_esterror_ns = validity.slew_esterror_ns = validity.after_esterror_ns = 5 * n;
    return validity;
}

static void *write_pages(void *argument)
{
    (void)argument;
    for (uint64_t n = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
        struct timebase_lines lines;
        make(n, &lines.before);
        make(n, &lines.slew);
        make(n, &lines.after);
        lines.validity = validity_of(n);
        publish_lines(&page, &lines, 0);
    }
    return NULL;
}

/* TSan and the optimiser must see a reader like any other: the library's own conversion. */
static int is_whole(const struct timebase_instant *instant)
{
    uint64_t n = (uint64_t)instant->mono_ns;
    return (uint64_t)instant->utc_ns == 2 * n && instant->maxerror_ns == 3 * n &&
        instant->utc_maxerror_ns == 7 * n && instant->esterror_ns == 5 * n &&
        instant->flags == (uint32_t)n;
}

static void a_reader_never_sees_two_publications_at_once(void **state)
{
    uint64_t reads = threads_reads(20000000), torn = 0, older = 0;
    uint64_t given_up = 0, last = 0;
    (void)state;
    pthread_t writer = threads_start(0, write_pages, NULL);
    threads_pin(1);
    while (timebase_page_seq(&page, __ATOMIC_ACQUIRE) == 0)
        ;
    for (uint64_t i = 0; i < reads; i++) {
        struct timebase_instant instant;
        if (!timebase_page_convert(&page, 5, &instant)) {
            given_up++;
            continue;
        }
        torn += !is_whole(&instant);
        older += (uint64_t)instant.mono_ns < last;
        last = (uint64_t)instant.mono_ns;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(writer, NULL);
    print_message("%u million reads during %u thousand publications, %u gave up\n",
                  (unsigned)(reads / 1000000), (unsigned)(last / 1000), (unsigned)given_up);
    assert_true(torn == 0);
    assert_true(older == 0);
    assert_true(given_up < reads / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_never_sees_two_publications_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
