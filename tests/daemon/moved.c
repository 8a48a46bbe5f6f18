/* SPDX-License-Identifier: MIT */
/*
 * A guest that is stopped, and resumes with counter and clocks as they stood; chronyd, which polls
 * its servers now and then, and answers in between from what it knows; and a hypervisor's page that
 * tells no UTC. The drivers' own code makes the claims.
 */
#include "cmocka_first.h"

#include "daemon/sources/chrony.h"
#include "daemon/sources/vmclock.h"
#include "shared_world.h"

#define POLL_NS (64 * SECOND)
#define INTERVAL (250 * MS)
#define STOP_NS (3 * SECOND)

static struct shared_clock shared;
static struct sources sources;

static struct {
    int64_t stopped_ns;  /* the machine, so far: UTC has gone on */
    int64_t stepped_ns;  /* CLOCK_REALTIME, by chronyd */
    uint64_t stops;      /* as the hypervisor counts them */
    int64_t polled_ns;   /* monotonic: when chronyd measured last */
    int64_t measured_ns; /* what: UTC - CLOCK_REALTIME then, but for its steps since */
} guest;

static int64_t utc_now(void)
{
    return mono_now() + 1700000000 * SECOND + guest.stopped_ns;
}

static int64_t correction_ns(void)
{
    return guest.measured_ns - guest.stepped_ns;
}

static int claim_chrony(void *context, struct claim *claim)
{
    const struct chrony_tracking tracking = {
        .reference_id = 0x0a000001,
        .stratum = 2,
        .reference_time_ns = guest.polled_ns + world.utc_offset_ns + correction_ns(),
        .correction_ns = correction_ns(),
        .root_dispersion_ns = 100000,
    };
    (void)context;
    *claim = chrony_claim(&tracking, NULL, mono_now(), mono_now());
    claim->measured_ns = chrony_measured_ns(&tracking, mono_now(), world.utc_offset_ns);
    return TIMEBASE_OK;
}

static int claim_vmclock(void *context, struct claim *claim)
{
    const struct vmclock page = {.status = VMCLOCK_UNKNOWN, .disruption_marker = guest.stops};
    const struct vmclock_moment moment = {.ticks = ticks_now(), .mono_ns = mono_now()};
    return vmclock_claim(&page, &moment, claim, context);
}

static int open_nothing(void *context, const char *argument)
{
    (void)argument;
    *(const char **)context = NULL;
    return TIMEBASE_OK;
}

static void close_nothing(void *context)
{
    (void)context;
}

static const struct source_driver drivers[] = {
    {"chrony", sizeof(char *), true, false, open_nothing, claim_chrony, NULL, close_nothing},
    {"vmclock", sizeof(char *), true, false, open_nothing, claim_vmclock, NULL, close_nothing},
};

static void start(unsigned count)
{
    struct settings settings;
    settings_default(&settings);
    sources_set_up(&sources, &settings);
    sources.count = count;
    for (unsigned i = 0; i < count; i++)
        sources.list[i] = (struct source){.driver = &drivers[i], .measured_ns = INT64_MIN};
    memset(&guest, 0, sizeof(guest));
    begin_world();
    guest.polled_ns = mono_now();
    struct shared_clock_outside outside = outside_of_world(&sources);
    shared_clock_start(&shared, &outside, INTERVAL, 50000);
}

static void poll_servers(void)
{
    guest.polled_ns = mono_now();
    guest.measured_ns = guest.stopped_ns;
}

static bool is_promised(void)
{
    uint32_t flags = told(&world.page, ticks_now()).flags;
    return (flags & TIMEBASE_LINE_STATUS_MASK) == TIMEBASE_STATUS_SYNCHRONIZED &&
        !(flags & TIMEBASE_LINE_ESTIMATE);
}

static void assert_promise_is_kept(void)
{
    struct timebase_instant now = told(&world.page, ticks_now());
    int64_t off_ns = now.utc_ns - utc_now();
    if (is_promised() && (uint64_t)(off_ns < 0 ? -off_ns : off_ns) > now.utc_maxerror_ns)
        fail_msg("%.3f s after the poll: off by %lld, bound %llu",
                 (double)(mono_now() - guest.polled_ns) / 1e9, (long long)off_ns,
                 (unsigned long long)now.utc_maxerror_ns);
}

/* As the daemon does it. Returns for how much of that time UTC was promised. */
static int64_t live(int64_t ns, bool is_checked)
{
    int64_t promised_ns = 0;
    for (int64_t until = world.now_ns + ns; world.now_ns < until;) {
        int64_t from_ns = world.now_ns;
        if (mono_now() - guest.polled_ns >= POLL_NS)
            poll_servers();
        sources_ask_for_sample(&sources, mono_now());
        pass((int64_t)shared_clock_wait_ns(&shared, shared_clock_step(&shared)));
        if (world.page.seq == 0)
            continue;
        if (is_checked)
            assert_promise_is_kept();
        promised_ns += is_promised() ? world.now_ns - from_ns : 0;
    }
    return promised_ns;
}

static void stop(void)
{
    guest.stopped_ns += STOP_NS;
    guest.stops++;
}

static void chronyd_is_believed_after_a_move_when_it_has_polled(void **state)
{
    (void)state;
    start(2);
    assert_true(live(150 * SECOND, true) > 148 * SECOND);
    for (int i = 0; i < 3; i++) {
        stop();
        int64_t left_ns = POLL_NS - (mono_now() - guest.polled_ns);
        assert_int_equal(live(left_ns, true), 0);
        assert_true(live(3 * POLL_NS + 17 * SECOND, true) > 3 * POLL_NS + 13 * SECOND);
    }
    assert_int_equal(shared.servo.counts.disruptions, 3);
    sources_close(&sources);
}

/* Until then nobody knows; the poll itself is of after the move. */
static void the_poll_that_shows_the_move_is_believed(void **state)
{
    (void)state;
    start(1);
    live(150 * SECOND, true);
    stop();
    assert_true(live(POLL_NS - (mono_now() - guest.polled_ns) - SECOND, false) > 0);
    poll_servers();
    live(INTERVAL, false);
    assert_true(live(2 * POLL_NS, true) > 2 * POLL_NS - 4 * SECOND);
    assert_int_equal(shared.servo.counts.disruptions, 1);
    sources_close(&sources);
}

static void a_step_by_chronyd_needs_no_other_poll(void **state)
{
    (void)state;
    start(2);
    live(150 * SECOND, true);
    stop();
    live(SECOND, true);
    poll_servers();
    live(SECOND, true);
    guest.stepped_ns += STOP_NS;
    world.utc_offset_ns += STOP_NS;
    live(INTERVAL, false);
    assert_true(live(50 * SECOND, true) > 46 * SECOND);
    assert_true(told(&world.page, ticks_now()).utc_maxerror_ns < (uint64_t)SECOND);
    sources_close(&sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chronyd_is_believed_after_a_move_when_it_has_polled),
        cmocka_unit_test(the_poll_that_shows_the_move_is_believed),
        cmocka_unit_test(a_step_by_chronyd_needs_no_other_poll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
