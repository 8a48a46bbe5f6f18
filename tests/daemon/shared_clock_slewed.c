/* SPDX-License-Identifier: MIT */
/* The shared over the daemon's own drivers while the system clock is slewed: UTC's bound holds. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "daemon/shared_clock.h"
#include "slewed_world.h"

#define END_NS (14 * SECOND)

static struct sources sources;
static struct shared_clock shared;

static int take_sample(void *context, struct discipline_sample *sample)
{
    (void)context;
    *sample = sample_of_world();
    return TIMEBASE_OK;
}

static int store(void *context, const struct timebase_page *page)
{
    (void)context, (void)page;
    return 0;
}

static void store_counts(void *context, const struct timebase_page *page)
{
    (void)context, (void)page;
}

static void record(void *context, const struct timebase_lines *lines, uint64_t published_ticks,
                   bool is_disrupted)
{
    (void)context, (void)lines, (void)published_ticks, (void)is_disrupted;
}

static const struct reference reference = {.name = "world", .sample = take_sample};

static void start(const struct source_driver *driver)
{
    const struct shared_clock_outside outside = {.ticks = slewed_ticks,
                                           .reference = &reference,
                                           .store = store,
                                           .store_counts = store_counts,
                                           .record = record,
                                           .sources = &sources};
    begin_slewed(&sources, driver);
    shared_clock_start(&shared, &outside, 250 * MS, 50000);
}

/* Whether a reader is told that UTC is followed; then it is, within the bound. */
static bool is_told_utc(void)
{
    struct timebase_instant now;
    if (!timebase_page_convert(&shared.page, slewed_ticks(NULL), &now) ||
        (now.flags & TIMEBASE_LINE_STATUS_MASK) != TIMEBASE_STATUS_SYNCHRONIZED)
        return false;
    uint64_t off_ns = (uint64_t)llabs(now.utc_ns - utc_ns());
    if (off_ns > now.utc_maxerror_ns)
        fail_msg("%s at %.0f ppm, %.3f s: off by %llu ns, bound %llu", sources.list[0].name,
                 slewed.slew_ppm, (double)slewed.now_ns / 1e9, (unsigned long long)off_ns,
                 (unsigned long long)now.utc_maxerror_ns);
    return true;
}

static void live(const struct source_driver *driver, double ppm, bool is_silent)
{
    int64_t due_ns = 0;
    unsigned told = 0;
    slewed = (struct slewed_world){.now_ns = 1,
                                   .off_ns = 2 * MS,
                                   .slew_from_ns = 5 * SECOND + 113 * MS,
                                   .slew_ppm = ppm,
                                   .is_adjtime = ppm <= 500,
                                   .is_silent = is_silent};
    start(driver);
    for (int64_t now_ns = MS; now_ns < END_NS; now_ns += MS) {
        slewed.now_ns = now_ns > slewed.now_ns ? now_ns : slewed.now_ns;
        if (now_ns >= due_ns) {
            sources_ask_for_sample(&sources, mono_ns());
            enum servo_result result = shared_clock_step(&shared);
            due_ns = now_ns + (int64_t)shared_clock_wait_ns(&shared, result);
        }
        told += is_told_utc();
    }
    assert_true(told > 13000); /* of 14,000 looks */
    sources_close(&sources);
}

static void live_with_all(double ppm)
{
    for (size_t i = 0; i < sizeof(world_drivers) / sizeof(world_drivers[0]); i++) {
        live(&world_drivers[i], ppm, false);
        live(&world_drivers[i], ppm, true);
    }
}

static void slewed_by_500_ppm(void **state)
{
    (void)state;
    live_with_all(500);
}

static void slewed_by_5000_ppm(void **state)
{
    (void)state;
    live_with_all(5000);
}

static void slewed_as_fast_as_chronyd_does(void **state)
{
    (void)state;
    live_with_all(83333);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slewed_by_500_ppm),
        cmocka_unit_test(slewed_by_5000_ppm),
        cmocka_unit_test(slewed_as_fast_as_chronyd_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
