/* SPDX-License-Identifier: MIT */
/*
 * Readers that follow overdue lines while another thread is to renew them, some by the lines and some
 * by the kernel's clocks.
 */
#include "virtual_page.h"

/* Lines behind the kernel's clocks, or ahead of them (negative), by too little to show. */
static void publish_behind(int64_t ns)
{
    mono_ns -= ns;
    utc_ns -= ns;
    flags = TIMEBASE_STATUS_FREERUNNING;
    publish_now();
    flags = TIMEBASE_STATUS_SYNCHRONIZED;
    mono_ns += ns;
    utc_ns += ns;
}

/* Overdue lines, `ns` behind the kernel's clocks, and a thread that holds up their renewal. */
static void be_locked_out(struct held_lock *held, int64_t ns)
{
    publish_behind(ns);
    live_for(100 * MS, false);
    held_lock_begin(held, cell_of(shared));
    pass(PERIOD);
}

static void let_in(struct held_lock *held, int64_t ns)
{
    held_lock_end(held);
    publish_behind(ns);
    look();
    live_for(SECOND, false);
}

#define LITTLE (500000LL)

/* UTC is stepped: who looks then is told the kernel's clocks, who looked before, the lines. */
static void who_was_told_the_clocks_after_others_the_lines_goes_on(void **state)
{
    static const int64_t behind[] = {LITTLE, -LITTLE};
    struct held_lock held;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        be_locked_out(&held, behind[i]);
        struct timebase_instant now = look();
        assert_int_equal(status_of(&now), TIMEBASE_STATUS_FREERUNNING);
        utc_ns += SLEEP;
        now = look();
        assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNRELIABLE);
        let_in(&held, behind[i]);
    }
}

/* And the other way round: what has parted from the clocks is not gone back to. */
static void who_was_told_the_lines_after_others_the_clocks_goes_on(void **state)
{
    static const int64_t behind[] = {LITTLE, -LITTLE};
    struct held_lock held;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        be_locked_out(&held, behind[i]);
        utc_ns += SLEEP;
        struct timebase_instant now = look();
        assert_int_equal(status_of(&now), TIMEBASE_STATUS_UNRELIABLE);
        utc_ns -= SLEEP;
        look();
        let_in(&held, behind[i]);
    }
}

/* While the renewing thread stops the others: both are told no more than it begins above. */
static void who_is_stopped_is_told_no_more_by_the_clocks_than_by_the_lines(void **state)
{
    struct mirror *mirror = mirror_of(cell_of(shared));
    struct held_lock held;
    (void)state;
    be_locked_out(&held, LITTLE);
    int64_t stopped_ns = look().mono_ns, utc_step_ns[] = {0, SLEEP};
    for (unsigned i = 0; i < 2; i++) {
        utc_ns += utc_step_ns[i];
        mirror->stop_ticks = counter;
        mirror->stop_mono_ns = (uint64_t)stopped_ns;
        mirror->follow = FOLLOW_TO_STOP;
        pass(MS);
        struct timebase_instant now = look();
        assert_true(now.mono_ns == stopped_ns && now.maxerror_ns >= MS);
    }
    mirror->follow = FOLLOW_TO_END;
    struct timebase_instant now;
    timebase_now(shared, &now);
    assert_true(now.mono_ns < stopped_ns); /* the end of the lease was before */
    mirror->follow = FOLLOW_BOTH;
    let_in(&held, LITTLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ASLEEP(who_was_told_the_clocks_after_others_the_lines_goes_on),
        ASLEEP(who_was_told_the_lines_after_others_the_clocks_goes_on),
        ASLEEP(who_is_stopped_is_told_no_more_by_the_clocks_than_by_the_lines),
    };
    return run_in_folder(tests);
}
