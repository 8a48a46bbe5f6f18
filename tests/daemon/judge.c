/* SPDX-License-Identifier: MIT */
/* What a guest's daemon promises while its battery clock can be read, and when it cannot be. */
#include "cmocka_first.h"

#include <string.h>
#include <time.h>

#include "daemon/daemon_parts.h"
#include "daemon/log.h"

#define SECOND INT64_C(1000000000)

static struct daemon daemon_state;
static bool is_rtc_there;
static int64_t rtc_sec;
static int64_t now_ns; /* by each of the kernel's clocks */

bool __wrap_witness_rtc_read(int64_t *sec);
bool __wrap_witness_rtc_read(int64_t *sec)
{
    *sec = rtc_sec;
    return is_rtc_there;
}

int64_t __wrap_counter_clock_ns(clockid_t id);
int64_t __wrap_counter_clock_ns(clockid_t id)
{
    (void)id;
    return now_ns;
}

/* A guest on its own counter, as its kernel is. */
static void start(void)
{
    static const struct daemon none;
    daemon_state = none;
    daemon_state.witness.is_guest = 1;
    daemon_state.disturbance.counter_id = timebase_counter_id();
    is_rtc_there = true;
}

/* A step at this second, as the daemon does it: is UTC promised? */
static bool is_promised_at(int64_t sec)
{
    struct discipline_sample sample = {.mono_ns = sec * SECOND, .is_synchronized = true};
    daemon_state.due_ns = now_ns = sample.mono_ns;
    /* The clocksource has just been looked at: none of which the kernel tells. */
    memset(&daemon_state.kernel.clocksource, 0, sizeof(daemon_state.kernel.clocksource));
    daemon_state.kernel.clocksource.looked_ns = sample.mono_ns;
    /* All CPUs have been compared. */
    daemon_state.cpus.skew.cpus = daemon_state.cpus.skew.measured_cpus = 1;
    daemon_judge_machine(&daemon_state, sample.mono_ns);
    daemon_judge_sample(&daemon_state, &sample);
    return sample.is_synchronized;
}

static void a_battery_clock_is_a_witness_while_it_can_be_read(void **state)
{
    (void)state;
    start();
    rtc_sec = 1000;
    assert_true(is_promised_at(100));
    rtc_sec = 1004;
    assert_true(is_promised_at(104));
    is_rtc_there = false;
    assert_false(is_promised_at(108));
    assert_false(is_promised_at(109));
    is_rtc_there = true;
    rtc_sec = 1013;
    assert_true(is_promised_at(113));
    assert_false(daemon_state.shared.is_disrupted);
}

/* What it showed before is still to be compared with. */
static void a_stop_while_it_could_not_be_read_is_told(void **state)
{
    (void)state;
    start();
    rtc_sec = 1000;
    assert_true(is_promised_at(100));
    is_rtc_there = false;
    assert_false(is_promised_at(104));
    is_rtc_there = true;
    rtc_sec = 1038;
    is_promised_at(108);
    assert_true(daemon_state.shared.is_disrupted);
}

/* A source has told at this second that the machine was disrupted. */
static void tell_at(int64_t sec)
{
    daemon_state.sources.disrupted_ns = now_ns = sec * SECOND;
    daemon_judge_told(&daemon_state, now_ns);
}

static void what_a_source_has_told_is_not_told_again(void **state)
{
    (void)state;
    start();
    rtc_sec = 1000;
    is_promised_at(100);
    rtc_sec = 1030; /* stopped for 28 s */
    tell_at(102);
    rtc_sec = 1034;
    is_promised_at(106);
    assert_false(daemon_state.shared.is_disrupted);
    rtc_sec = 1068; /* and once more */
    is_promised_at(110);
    assert_true(daemon_state.shared.is_disrupted);
}

/* The sources were disrupted before these looks, and tell nothing of what is between them. */
static void what_was_told_before_the_stop_hides_it_not(void **state)
{
    (void)state;
    start();
    rtc_sec = 1000;
    is_promised_at(100);
    tell_at(100);
    rtc_sec = 1030;
    daemon_judge_told(&daemon_state, now_ns + 2 * SECOND);
    rtc_sec = 1034;
    is_promised_at(106);
    assert_true(daemon_state.shared.is_disrupted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_battery_clock_is_a_witness_while_it_can_be_read),
        cmocka_unit_test(a_stop_while_it_could_not_be_read_is_told),
        cmocka_unit_test(what_a_source_has_told_is_not_told_again),
        cmocka_unit_test(what_was_told_before_the_stop_hides_it_not),
    };
    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
