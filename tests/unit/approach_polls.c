/* SPDX-License-Identifier: MIT */
/* The polls of an exact approach: what is kept of them, and what they say together. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "approaches.h"

static struct approach a;
static int events;

static void note(void *argument)
{
    ++*(int *)argument;
}

static int64_t poll_ticks(uint32_t k)
{
    return a.poll_ticks[k % APPROACH_VERNIER];
}

static void the_last_polls_are_kept_in_their_order(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        if (named->approach == approach_poll)
            continue;
        for (int i = 0; i < 50; i++) {
            prepare_approach(&a, 300 * i, note, &events);
            named->approach(&a);
            uint32_t kept = a.polls < APPROACH_VERNIER ? a.polls : APPROACH_VERNIER;
            assert_true(a.polls >= 1);
            for (uint32_t k = a.polls - kept + 1; k < a.polls; k++) {
                assert_true(poll_ticks(k) >= poll_ticks(k - 1));
                assert_true(poll_ticks(k) - poll_ticks(k - 1) <= a.gap_ticks);
            }
        }
    }
}

/* Nothing is known of the time between two polls: so the last one alone counts. */
static void a_poll_stands_for_its_span(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        for (int i = 0; i < 200 && named->approach != approach_poll; i++) {
            prepare_approach(&a, i * 20, note, &events);
            named->approach(&a);
            int64_t last = poll_ticks(a.polls - 1) * (1 << APPROACH_TICK_BITS);
            assert_int_equal(a.sample_ticks, last + a.span_ticks / 2);
            assert_int_equal(a.width_ticks, a.span_ticks);
        }
    }
}

/* Nor do they contradict each other then: they are counted from one approach to the next. */
static void polls_that_agree_are_counted(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL)
        for (int i = 0; i < 300 && named->approach != approach_poll; i++) {
            prepare_approach(&a, 1000, note, &events);
            a.even_polls = i - 100;
            named->approach(&a);
            assert_int_equal(a.even_polls, i - 100 + (int32_t)a.polls);
        }
}

#if defined(__x86_64__)
static int64_t later(int64_t a_ticks, int64_t b_ticks)
{
    return a_ticks > b_ticks ? a_ticks : b_ticks;
}

/*
 * The same in C, from the polls that were kept: all of them. When each one can have read the
 * counter its span tells, and the poll before it.
 */
static void find_by_all_polls(int64_t *sample_ticks, int64_t *width_ticks)
{
    int64_t low = -APPROACH_NEVER, high = APPROACH_NEVER;
    for (uint32_t k = 0; k < a.polls; k++) {
        int64_t first = poll_ticks(k) * (1 << APPROACH_TICK_BITS), last = first + a.span_ticks;
        low = later(low + a.earliest_ticks, first);
        high = -later(-(high + a.latest_ticks), -last);
        *width_ticks = high - low;
        if (high < low) {
            low = first;
            high = last;
        }
    }
    *sample_ticks = (low + high) >> 1;
}

/* The polls are some so many ticks apart, and said to be this much more or less. */
static void each_poll_narrows_what_those_before_left_open(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    int contradictory = 0;
    while ((named = next_approach(named)) != NULL) {
        if (named->approach == approach_poll)
            continue;
        for (int i = 0; i < 4000; i++) {
            int64_t sample = 0, width = 0, apart = (i % 50 * 8) << APPROACH_TICK_BITS;
            prepare_approach(&a, 100 + i % 37 * 20, note, &events);
            a.earliest_ticks = apart - (i % 7 << APPROACH_TICK_BITS);
            a.latest_ticks = apart + (i % 5 << APPROACH_TICK_BITS);
            named->approach(&a);
            if (a.polls > APPROACH_VERNIER)
                continue; /* not all were kept */
            find_by_all_polls(&sample, &width);
            assert_int_equal(a.sample_ticks, sample);
            assert_int_equal(a.width_ticks, width);
            contradictory += width < 0;
        }
    }
    assert_true(contradictory > 0 || next_approach(NULL)->approach == approach_poll);
}

/* By its last two polls. */
static int64_t sooner_cycles(void)
{
    int64_t more = a.polls > 1 ? poll_ticks(a.polls - 1) - poll_ticks(a.polls - 2) - a.usual_ticks : 0;
    int64_t size = more < 0 ? -more : more;
    int counts = size >= a.sooner_from_ticks && size <= a.usual_ticks / 2;
    return counts ? more * a.sooner_per_tick : 0;
}

/* Whatever a poll takes here, it is longer and shorter than usual by little and by much in some. */
static void after_a_slow_poll_the_event_is_to_come_sooner(void **state)
{
    enum { MOST_USUAL = 4000, EACH = 10 };
    (void)state;
    const struct named_approach *named = NULL;
    int sooner = 0, later = 0, unusual = 0;
    while ((named = next_approach(named)) != NULL) {
        for (int i = 0; i < MOST_USUAL && named->approach != approach_poll; i++) {
            prepare_approach(&a, 200 + i % EACH * 400, note, &events);
            a.usual_ticks = i;
            a.sooner_from_ticks = i % 7 * i / 14; /* up to nearly half */
            a.sooner_per_tick = 3 << (APPROACH_CYCLE_BITS - 2);
            named->approach(&a);
            int64_t expected = sooner_cycles();
            assert_int_equal(a.sooner_cycles, expected);
            int64_t due = (a.sample_ticks * a.cycles_per_tick + a.fixed_cycles + expected) >>
                APPROACH_CYCLE_BITS;
            assert_int_equal(a.overdue_cycles, due);
            sooner += expected > 0;
            later += expected < 0;
            unusual += a.polls > 1 && expected == 0;
        }
    }
    int all = sooner > 0 && later > 0 && unusual > 0;
    assert_true(all || next_approach(NULL)->approach == approach_poll);
}

/* There is the time for another poll, unless the first one was held up. */
static void a_pad_of_any_length_leads_to_the_next_poll(void **state)
{
    enum { AHEAD_TICKS = 5000 };
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        for (int pad = 0; pad <= APPROACH_LONGEST_PAD && named->approach != approach_poll; pad++) {
            prepare_approach(&a, AHEAD_TICKS, note, &events);
            a.pad_cycles = pad;
            events = 0;
            named->approach(&a);
            assert_int_equal(events, 1);
            assert_true(a.polls > 1 || poll_ticks(0) > -AHEAD_TICKS / 2);
        }
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_polls_are_kept_in_their_order),
        cmocka_unit_test(a_poll_stands_for_its_span),
        cmocka_unit_test(polls_that_agree_are_counted),
#if defined(__x86_64__)
        cmocka_unit_test(each_poll_narrows_what_those_before_left_open),
        cmocka_unit_test(after_a_slow_poll_the_event_is_to_come_sooner),
        cmocka_unit_test(a_pad_of_any_length_leads_to_the_next_poll),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
