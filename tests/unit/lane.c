/* SPDX-License-Identifier: MIT */
/* Throws between two CPUs, by one thread: while one side waits, the other one plays. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sync/lane.h"

enum { ROUNDS = 20, WAY_TICKS = 7, AHEAD_TICKS = 1000000 };

static struct lane here, there;
static uint64_t now_ticks;
static uint32_t readings, not_taken;
static bool is_over;

/* Each side reads twice a round: once for its throw, once when it has seen the other's. */
static void note_if_not_taken(const struct lane *own, uint32_t first_throw)
{
    bool is_throw = readings % 2 == first_throw;
    not_taken += is_throw && own->taken != readings / 2 + 1;
    readings++;
}

static uint64_t read_here(void)
{
    note_if_not_taken(&here, 0);
    return now_ticks;
}

static uint64_t read_there(void)
{
    note_if_not_taken(&there, 1);
    return now_ticks + AHEAD_TICKS;
}

static bool is_late(const void *unused)
{
    (void)unused;
    return is_over;
}

/* ---- the other side ------------------------------------------------------------------------- */

static void answer_from_there(void)
{
    if (there.turn == here.turn)
        return;
    there.ticks = now_ticks + WAY_TICKS + AHEAD_TICKS;
    there.turn = here.turn;
    now_ticks += 2 * WAY_TICKS;
}

static void throw_from_here(void)
{
    if (here.turn != there.turn)
        return;
    here.ticks = now_ticks + WAY_TICKS;
    here.turn++;
    now_ticks += 2 * WAY_TICKS;
}

static const struct lane_player player_here = {read_here, answer_from_there, is_late};
static const struct lane_player player_there = {read_there, throw_from_here, is_late};

static int begin(void **state)
{
    (void)state;
    here = there = (struct lane){0};
    now_ticks = 0;
    readings = not_taken = 0;
    is_over = false;
    return 0;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void each_side_narrows_its_end(void **state)
{
    struct skew_range range = SKEW_UNKNOWN;
    assert_true(lane_play_here(&player_here, NULL, &here, &there, ROUNDS, &range));
    begin(state);
    assert_true(lane_play_there(&player_there, NULL, &here, &there, ROUNDS, &range));
    assert_int_equal(range.low_ticks, AHEAD_TICKS - WAY_TICKS);
    assert_int_equal(range.high_ticks, AHEAD_TICKS + WAY_TICKS);
}

static void the_line_is_the_throwers_before_it_reads(void **state)
{
    struct skew_range range = SKEW_UNKNOWN;
    lane_play_here(&player_here, NULL, &here, &there, ROUNDS, &range);
    assert_int_equal(readings, 2 * ROUNDS);
    assert_int_equal(not_taken, 0);
    begin(state);
    lane_play_there(&player_there, NULL, &here, &there, ROUNDS, &range);
    assert_int_equal(readings, 2 * ROUNDS);
    assert_int_equal(not_taken, 0);
}

static void who_waits_in_vain_sees_that_time_is_up(void **state)
{
    struct skew_range range = SKEW_UNKNOWN;
    (void)state;
    is_over = true;
    here.turn = ROUNDS; /* nobody throws: a turn that is not awaited */
    assert_false(lane_play_there(&player_there, NULL, &here, &there, 1, &range));
    assert_int_equal(range.high_ticks, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_side_narrows_its_end, begin),
        cmocka_unit_test_setup(the_line_is_the_throwers_before_it_reads, begin),
        cmocka_unit_test_setup(who_waits_in_vain_sees_that_time_is_up, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
