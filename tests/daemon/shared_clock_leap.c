/* SPDX-License-Identifier: MIT */
/* An announced leap second that the sources and the system clock make at different moments. */
#include "cmocka_first.h"

#include "shared_world.h"
#include "told_source.h"

#define INTERVAL (250 * MS)
#define DAY (86400 * SECOND)
#define MIDNIGHT (20000 * DAY)

static struct shared_clock shared;
static struct sources sources;

/* What happens, in ns from the world's beginning; 0: never. UTC itself leaps at LEAP. */
#define LEAP (10 * SECOND)
static struct {
    int64_t system_ns;              /* the system clock leaps */
    int64_t source_ns;              /* the first source does; the others when the system clock does */
    int64_t stop_ns;                /* the machine stood still for a second */
    bool is_announced_by_page_only; /* and so the kernel is not told */
    unsigned sources;
} happens;

static bool has_come(int64_t at_ns)
{
    return at_ns != 0 && world.now_ns >= at_ns;
}

static int begin(void **state)
{
    (void)state;
    memset(&happens, 0, sizeof(happens));
    memset(told_sources, 0, sizeof(told_sources));
    return 0;
}

static int finish(void **state)
{
    (void)state;
    sources_close(&sources);
    return 0;
}

static void start(void)
{
    static const char *const names[] = {"told:0", "told:1", "told:2"};
    struct settings settings;
    struct problem problem;
    settings_default(&settings);
    for (unsigned i = 0; i < happens.sources; i++)
        settings_set(&settings, SETTINGS_KEY_REFERENCE, names[i], 6, &problem);
    sources_set_up(&sources, &settings);
    begin_world();
    world.utc_offset_ns = MIDNIGHT - mono_now() - LEAP;
    world.maxerror_ns = 16 * SECOND; /* of the kernel's own word, which nobody asks for */
    world.flags = happens.is_announced_by_page_only ? 0 : TIMEBASE_LINE_LEAP_INSERT;
    struct shared_clock_outside outside = outside_of_world(&sources);
    shared_clock_start(&shared, &outside, INTERVAL, 50000);
}

/* CLOCK_REALTIME - UTC, as a source sees it that has made the leap, or has not. */
static int64_t offset_ns(bool has_leapt)
{
    int64_t offset_ns = has_leapt ? SECOND : 0;
    offset_ns -= has_come(happens.system_ns) ? SECOND : 0;
    return offset_ns - (has_come(happens.stop_ns) ? SECOND : 0);
}

/* The first is the hypervisor's page, which is exact; the others are chronyd. */
static void let_sources_tell(void)
{
    for (unsigned i = 0; i < happens.sources; i++) {
        bool has_leapt = has_come(i == 0 ? happens.source_ns : happens.system_ns);
        told_sources[i].claim = (struct claim){
            .mono_ns = mono_now(),
            .measured_ns = mono_now(),
            .offset_ns = offset_ns(has_leapt),
            .error_ns = i == 0 ? 1000 : MS,
            .flags = i == 0 && !has_leapt ? TIMEBASE_LINE_LEAP_INSERT : 0,
            .is_synchronized = true,
            .is_slewed_by_others = i == 0,
        };
    }
}

static void let_system_leap(void)
{
    static const int64_t leapt_ns = MIDNIGHT - SECOND - LEAP;
    if (!has_come(happens.system_ns))
        return;
    world.utc_offset_ns = leapt_ns - world.mono_at;
    world.flags = 0;
}

static struct timebase_instant now(void)
{
    return told(&world.page, ticks_now());
}

static uint32_t promise(void)
{
    return now().flags & (TIMEBASE_LINE_STATUS_MASK | TIMEBASE_LINE_ESTIMATE);
}

static bool is_any_falseticker(void)
{
    bool is_any = false;
    for (unsigned i = 0; i < sources.count; i++)
        is_any |= sources.list[i].is_falseticker;
    return is_any;
}

/* UTC is kept to the nanosecond in this world, but for the leap. */
static void assert_utc_is_within(void)
{
    int64_t utc_ns = MIDNIGHT + world.now_ns - LEAP - (has_come(LEAP) ? SECOND : 0);
    struct timebase_instant instant = now();
    int64_t off_ns = instant.utc_ns - utc_ns;
    uint64_t size_ns = (uint64_t)(off_ns < 0 ? -off_ns : off_ns);
    if (size_ns > instant.utc_maxerror_ns)
        fail_msg("at %lld ns off by %lld, bound %llu", (long long)world.now_ns, (long long)off_ns,
                 (unsigned long long)instant.utc_maxerror_ns);
}

/* Readers look all the time, the daemon does not. */
static void read_on(int64_t ns)
{
    for (int64_t until_ns = world.now_ns + ns; world.now_ns < until_ns;) {
        int64_t rest_ns = until_ns - world.now_ns;
        if (world.page.seq != 0 && happens.stop_ns == 0)
            assert_utc_is_within();
        pass(rest_ns < 5 * MS ? rest_ns : 5 * MS);
    }
}

static enum servo_result step(void)
{
    let_system_leap();
    let_sources_tell();
    sources_ask_for_sample(&sources, mono_now());
    return shared_clock_step(&shared);
}

/* Steps until then; how many of them left a promise of UTC, and nobody called a falseticker. */
static unsigned live_until(int64_t until_ns, unsigned *steps)
{
    unsigned kept = 0;
    for (*steps = 0; world.now_ns < until_ns; ++*steps) {
        enum servo_result result = step();
        kept += world.page.seq != 0 && promise() == TIMEBASE_STATUS_SYNCHRONIZED &&
            !is_any_falseticker();
        read_on((int64_t)shared_clock_wait_ns(&shared, result));
    }
    return kept;
}

static void live_through(unsigned count, int64_t system_ns, int64_t source_ns)
{
    unsigned steps;
    happens.sources = count;
    happens.system_ns = system_ns;
    happens.source_ns = source_ns;
    start();
    live_until(5 * SECOND, &steps);
    int64_t last_ns = system_ns > source_ns ? system_ns : source_ns;
    unsigned kept = live_until(last_ns + 4 * SECOND, &steps);
    assert_int_equal(kept, steps);
    assert_true(now().utc_maxerror_ns < (uint64_t)(2 * MS));
    assert_int_equal(shared.servo.counts.leaps, 1);
    assert_int_equal(world.page.disruption_marker, 0);
    finish(NULL);
}

static void a_source_that_makes_it_before_the_system_clock_has_not_parted(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= 3; count++)
        live_through(count, LEAP + 600 * MS, LEAP);
}

static void a_source_that_makes_it_after_the_system_clock_has_not_parted(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= 3; count++)
        live_through(count, LEAP, LEAP + 600 * MS);
}

/* chronyd's servers announce nothing: it finds out by polling, and steps the clock. */
static void a_system_clock_that_is_stepped_long_after_it_keeps_the_promise(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= 3; count++) {
        happens.is_announced_by_page_only = true;
        live_through(count, LEAP + 100 * SECOND, LEAP);
    }
}

/* After an hour the second is no longer in the lines' own part of the bound, so it is in the claim. */
static void a_second_that_nobody_steps_is_in_the_claim_after_an_hour(void **state)
{
    unsigned steps;
    (void)state;
    happens.sources = 1;
    happens.source_ns = LEAP;
    start();
    live_until(LEAP + 3605 * SECOND, &steps);
    assert_int_equal(promise(), TIMEBASE_STATUS_SYNCHRONIZED);
    assert_in_range(now().utc_maxerror_ns, SECOND, SECOND + 2 * MS);
}

/* It may have stood still; and if not, it does not know UTC. */
static void a_source_that_is_still_a_second_off_afterwards_has_parted(void **state)
{
    unsigned steps;
    (void)state;
    happens.sources = 2;
    happens.system_ns = LEAP;
    start();
    live_until(LEAP + 5 * SECOND, &steps);
    assert_int_equal(world.page.disruption_marker, 1);
    assert_true(promise() & TIMEBASE_LINE_ESTIMATE);
}

/* What all sources show is the leap, and then no longer: it was a stop. */
static void a_second_that_was_stood_still_is_told_when_the_leap_is_over(void **state)
{
    unsigned steps;
    (void)state;
    happens.sources = 2;
    happens.system_ns = LEAP;
    happens.source_ns = LEAP;
    happens.stop_ns = LEAP + 300 * MS;
    start();
    live_until(LEAP + 5 * SECOND, &steps);
    assert_int_equal(world.page.disruption_marker, 1);
    assert_true(now().utc_maxerror_ns >= (uint64_t)SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_source_that_makes_it_before_the_system_clock_has_not_parted, begin, finish),
        cmocka_unit_test_setup_teardown(
            a_source_that_makes_it_after_the_system_clock_has_not_parted, begin, finish),
        cmocka_unit_test_setup_teardown(
            a_system_clock_that_is_stepped_long_after_it_keeps_the_promise, begin, finish),
        cmocka_unit_test_setup_teardown(
            a_second_that_nobody_steps_is_in_the_claim_after_an_hour, begin, finish),
        cmocka_unit_test_setup_teardown(
            a_source_that_is_still_a_second_off_afterwards_has_parted, begin, finish),
        cmocka_unit_test_setup_teardown(
            a_second_that_was_stood_still_is_told_when_the_leap_is_over, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
