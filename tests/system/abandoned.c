/* SPDX-License-Identifier: MIT */
/* Whoever leaves a clock in the middle of its renewal, on the way that C has for it: it goes on. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>

#include "clock/own/own.h"
#include "child.h"
#include "page_writer.h"

static bool is_back;

/* Asked to end before it looks: it ends where it says that it may, not in the middle. */
static void *look_and_end(void *clock)
{
    pthread_cancel(pthread_self());
    timebase_clock_maintain((const timebase_clock *)clock);
    is_back = true;
    pthread_testcancel();
    return NULL;
}

static void *attach_and_end(void *path)
{
    timebase_clock *clock = NULL;
    pthread_cancel(pthread_self());
    timebase_clock_attach(&clock, (const char *)path);
    timebase_clock_detach(clock);
    is_back = clock != NULL;
    pthread_testcancel();
    return NULL;
}

static void assert_ends_well(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    void *result = NULL;
    is_back = false;
    assert_int_equal(pthread_create(&thread, NULL, body, argument), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_true(is_back);
    assert_ptr_equal(result, PTHREAD_CANCELED);
}

static void a_cancelled_reader_leaves_an_attached_clock_in_order(void **state)
{
    struct page_writer writer = writer_new();
    struct timebase_attachment attachment;
    timebase_clock *shared;
    (void)state;
    assert_int_equal(timebase_clock_attach(&shared, writer.path), 0);
    writer_publish(&writer);
    assert_ends_well(look_and_end, shared);
    assert_ends_well(attach_and_end, writer.path);
    writer_publish(&writer);
    assert_int_equal(timebase_clock_attachment(shared, &attachment), 0);
    assert_true(attachment.seq == writer.page->seq);
    timebase_clock_detach(shared);
    writer_remove(&writer);
}

static void a_cancelled_reader_leaves_the_default_clock_in_order(void **state)
{
    struct timebase_statistics statistics;
    (void)state;
    assert_ends_well(look_and_end, (void *)(uintptr_t)timebase_clock_default());
    assert_int_equal(timebase_clock_statistics(timebase_clock_default(), &statistics), 0);
}

static sigjmp_buf way_out;

static void leave(int number)
{
    (void)number;
    siglongjmp(way_out, 1);
}

static int sample_and_be_timed_out(void *context, struct discipline_sample *sample)
{
    int error = reference_kernel.sample(context, sample);
    raise(SIGALRM);
    return error;
}

static int moment_of_kernel(void *context, struct reference_moment *moment)
{
    return reference_kernel.moment(context, moment);
}

static const struct reference interrupting = {
    .name = "interrupting", .sample = sample_and_be_timed_out, .moment = moment_of_kernel};
static struct reference_kernel kernel;
static struct own_clock own = OWN_CLOCK_INITIALIZER(&interrupting, &kernel);

/* A time-out by siglongjmp, in the middle of each maintenance. */
static void a_handler_that_jumps_away_leaves_the_clock_in_order(void **state)
{
    struct timebase_statistics statistics;
    volatile int jumps = 0;
    (void)state;
    signal(SIGALRM, leave);
    for (volatile int i = 0; i < 100; i++) {
        if (sigsetjmp(way_out, 1) == 0)
            timebase_clock_maintain(own_handle(&own));
        else
            jumps++;
        assert_int_equal(timebase_clock_statistics(own_handle(&own), &statistics), 0);
        usleep(1000);
    }
    signal(SIGALRM, SIG_DFL);
    assert_true(jumps > 0);
    assert_true(statistics.publications > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_reader_leaves_an_attached_clock_in_order),
        cmocka_unit_test(a_cancelled_reader_leaves_the_default_clock_in_order),
        cmocka_unit_test(a_handler_that_jumps_away_leaves_the_clock_in_order),
    };
    return run_all(tests);
}
