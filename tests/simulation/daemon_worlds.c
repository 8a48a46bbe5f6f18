/* SPDX-License-Identifier: MIT */
/*
 * The shipped daemon on guests drawn at random: stopped, moved, asleep, with a counter that jumps,
 * a chronyd that polls now and then and answers late or not at all, a hypervisor's page, and a
 * daemon that ends and comes back, whatever has befallen the guest meanwhile. TIMEBASE_TEST_WORLDS
 * for more of them, from TIMEBASE_TEST_FIRST on, and TIMEBASE_TEST_SEED for one, with what the
 * daemon logs. In the crowded worlds one thing befalls them before the other is over.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../repeats.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/wake.h"
#include "promises.h"

#define HAPPENINGS 12
#define CROWDED_HAPPENINGS 40
/* Between two of them, on average. */
#define CALM_NS (8 * SECOND)
#define CROWDED_CALM_NS (1500 * MS)
/* A slope good to 1 ppm, three quiet samples, two in a row that promise; and a growth that was told
 * when chronyd had corrected itself by an hour is in force along a run of 16 samples. */
#define RECOVERY_NS (20 * SECOND)
#define RECOVERY_SAMPLES 18
/* A stop that a PTP clock shows, whatever has been slewed; and when it must have been told. */
#define SHOWN_NS (SECOND / 2)
#define TOLD_NS (5 * SECOND)

static struct life {
    struct settings settings;
    struct promises promises;
    bool follows_chrony;
    unsigned happenings; /* left */
    int64_t next_ns;     /* true time of the next */
    int64_t calm_ns;     /* monotonic: none is left, and nothing is wrong from then on */
    int64_t over_ns;     /* likewise */
    unsigned stops, sleeps, starts, adopted;
    bool is_old;         /* drawn as it was before there were kernel and PTP clock */
    bool is_quiet;       /* not to be logged */
    bool is_crowded;     /* one thing befalls it before the other is over */
    int64_t ptp_error_ns;   /* 0: there is none */
    int64_t happened_ns;    /* monotonic: the newest of what befell it */
    int64_t told_by_ns;     /* monotonic: by then a stop must be told that the PTP clock shows; 0 */
    uint64_t marker;        /* of the page, then */
} life;

static bool chance(double share)
{
    return guest_random() < share;
}

/* ---- what happens ---------------------------------------------------------------------------- */

/* Between its first two samples, a millisecond apart, a clock cannot tell a leap from its pace. */
static bool is_learning(void)
{
    bool is_new = !guest.has_page || guest.is_disowned;
    return guest.is_running && is_new && guest.stores == life.promises.begun_stores;
}

/* It has been in the newest lines, and no two sources outvote it; and what befell the guest before
 * is not in doubt. */
static bool is_ptp_heard(void)
{
    const int64_t intervals_ns = 2 * (int64_t)life.settings.interval_ns;
    const int64_t lately_ns = guest.now_ns - intervals_ns - SECOND;
    if (guest_mono_ns() - life.happened_ns < TOLD_NS + intervals_ns)
        return false;
    return life.ptp_error_ns != 0 && guest.ptp.is_up && guest.is_running && !guest.has_utc &&
        guest.stores > life.promises.begun_stores + 3 && guest.ptp.heard_ns > lately_ns;
}

static void expect_to_be_told(void)
{
    life.marker = guest.page.disruption_marker;
    life.told_by_ns = guest_mono_ns() + TOLD_NS + 2 * (int64_t)life.settings.interval_ns;
}

static void judge_telling(void)
{
    if (life.told_by_ns == 0 || guest_mono_ns() < life.told_by_ns)
        return;
    if (guest.page.disruption_marker == life.marker)
        promises_broken(&life.promises, "a stop that a PTP clock shows is not told");
    life.told_by_ns = 0;
}

/* Who is stopped and moved is told by marker and kernel, if there are any. */
static void stop(void)
{
    enum promises_sight sight =
        guest.kind == GUEST_ON_KVM_CLOCK ? PROMISES_PARTED : PROMISES_UNSEEN;
    if (guest.kind == GUEST_IS_NONE || life.settings.never_moved || is_learning())
        return;
    /* Beyond what a slewed reference would explain, where the kernel's clock goes on. */
    double least_ns = guest.kind == GUEST_ON_KVM_CLOCK ? 3e9 : 1e6;
    double pace_ppm =
        guest.kind == GUEST_ON_KVM_CLOCK && guest.has_marker ? guest_between(-480, 480) : 0;
    int64_t ns = (int64_t)guest_around(least_ns, 10000e9);
    bool is_shown = is_ptp_heard() && ns > 4 * life.ptp_error_ns + SHOWN_NS;
    life.stops++;
    guest_stop(ns, pace_ppm);
    promises_happened(&life.promises, guest.has_marker ? PROMISES_SEEN : sight);
    if (is_shown)
        expect_to_be_told();
}

/* As QEMU restores kvm-clock: it goes on where it stood, and so does the counter. */
static void put_back(void)
{
    if (guest.kind != GUEST_ON_KVM_CLOCK || is_learning())
        return;
    bool is_told = guest.has_marker && guest.is_running &&
        guest.stores > life.promises.begun_stores && !life.promises.is_moved_unseen;
    life.stops++;
    guest_stop_with_clock((int64_t)guest_around(1e6, 10000e9));
    promises_happened(&life.promises, is_told ? PROMISES_SEEN : PROMISES_UNSEEN);
}

static void lose_ptp(void)
{
    guest.ptp.is_up = life.ptp_error_ns != 0 && !guest.ptp.is_up;
}

static void sleep_well(void)
{
    enum guest_counter counter = (enum guest_counter)(3 * guest_random());
    life.sleeps++;
    guest_sleep((int64_t)guest_around(3e9, 10000e9), counter,
                (int64_t)guest_between(-1e9, 1e9));
    promises_happened(&life.promises,
                      counter == GUEST_COUNTER_STANDS ? PROMISES_VOID : PROMISES_SEEN);
}

/* Ahead by seconds, or back beyond all lines. */
static void jump(void)
{
    int64_t ticks = (int64_t)(guest_around(20, 100) * guest.hz);
    uint64_t begin = guest.page.copy[guest.page.seq & 1].before.start_ticks;
    if (chance(0.5))
        ticks = -ticks;
    if (guest.has_page && ticks < 0 && guest_ticks() > begin &&
        guest_ticks() - begin > (uint64_t)-ticks)
        return;
    guest_jump(ticks);
    promises_happened(&life.promises, PROMISES_PARTED);
}

static void step_clock(void)
{
    guest_step((int64_t)guest_between(-2e9, 2e9));
    promises_stepped(&life.promises);
}

/* To where UTC is, as chronyd does after a move that it has seen. */
static void step_to_utc(void)
{
    guest_step(-(int64_t)guest.chronyd.left_ns);
    promises_stepped(&life.promises);
}

static void begin_chronyd_anew(void)
{
    chronyd_restart();
    guest.chronyd.poll_ns = (int64_t)guest_around(2e9, 24e9);
}

static void lose_chronyd(void)
{
    guest.chronyd.is_up = !guest.chronyd.is_up;
}

static void steer(void)
{
    guest.chronyd.slew_ppm = guest_around(1, 240);
    guest.chronyd.next_skew_ppm = guest_around(0.01, 5);
    guest.chronyd.next_root_delay_ns = guest_around(10e3, 20e6);
}

static void pass_and_read(int64_t ns)
{
    guest_pass(ns / 2);
    promises_read(&life.promises);
    guest_pass(ns - ns / 2);
    promises_read(&life.promises);
}

/* Other processes have the CPU. */
static void stall(void)
{
    pass_and_read((int64_t)guest_around(0.2e9, 20e9));
}

static void end_daemon(void)
{
    guest.is_ending = true;
}

static void happen(bool is_running)
{
    static const struct {
        const char *name;
        void (*happens)(void);
    } any[] = {
        {"put back", put_back},
        {"PTP clock goes or comes", lose_ptp},
        {"stop", stop},
        {"sleep", sleep_well},
        {"jump", jump},
        {"step", step_clock},
        {"step to UTC", step_to_utc},
        {"chronyd goes or comes", lose_chronyd},
        {"other slews", steer},
        {"chronyd begins anew", begin_chronyd_anew},
        {"end", end_daemon},
        {"end", end_daemon},
        {"stall", stall},
        {"stop", stop},
    };
    unsigned count = sizeof(any) / sizeof(any[0]);
    unsigned first = life.is_old ? 2 : 0;
    unsigned last = is_running ? count : count - 4;
    unsigned which = first + (unsigned)(guest_random() * (last - first));
    life.told_by_ns = 0; /* what befalls it now may hide what befell it before */
    any[which].happens();
    life.happened_ns = guest_mono_ns();
    if (!life.is_quiet)
        fprintf(stderr, "%.3f s: %s\n", (double)guest.now_ns * 1e-9, any[which].name);
    promises_read(&life.promises);
}

/* ---- the daemon waits, and meanwhile -------------------------------------------------------- */

static void calm_down(void)
{
    guest.chronyd.is_up = true;
    guest.ptp.is_up = life.ptp_error_ns != 0;
    life.calm_ns = guest_mono_ns() + 2 * guest.chronyd.poll_ns + RECOVERY_NS +
        RECOVERY_SAMPLES * (int64_t)life.settings.interval_ns;
    life.over_ns = life.calm_ns + 5 * SECOND;
}

static void go_on(void)
{
    if (life.happenings > 0 && guest.now_ns >= life.next_ns) {
        happen(guest.is_running);
        int64_t calm_ns = life.is_crowded ? CROWDED_CALM_NS : CALM_NS;
        life.next_ns = guest.now_ns + (int64_t)(guest_between(0, 2) * (double)calm_ns);
        if (--life.happenings == 0)
            calm_down();
    }
    if (guest.has_utc && chance(0.1))
        guest_write_hypervisors_page();
    life.promises.is_due = guest.is_running && life.happenings == 0 && life.follows_chrony &&
        guest_mono_ns() > life.calm_ns;
    guest.is_ending |= life.happenings == 0 && guest_mono_ns() > life.over_ns;
}

static unsigned news(int *fds, unsigned count)
{
    bool has_answered = guest.chronyd.is_out && guest.now_ns >= guest.chronyd.answer_ns;
    for (unsigned i = 0; i < count; i++)
        fds[i] = has_answered ? fds[i] : -1;
    return has_answered && count > 0 ? WAKE_NEWS : 0;
}

static unsigned wait_in_life(uint64_t ns, int *fds, unsigned count)
{
    int64_t until_ns = guest_mono_ns() + (int64_t)ns;
    unsigned reasons = WAKE_TIME;
    promises_read(&life.promises);
    judge_telling();
    go_on();
    while (guest_mono_ns() < until_ns && !guest.is_clock_set) {
        int64_t left_ns = until_ns - guest_mono_ns() + 1;
        int64_t answer_ns = guest.chronyd.is_out && count > 0
            ? guest.chronyd.answer_ns - guest.now_ns
            : INT64_MAX;
        if (answer_ns <= 0)
            break;
        pass_and_read(left_ns < answer_ns ? left_ns : answer_ns);
    }
    reasons |= news(fds, count);
    reasons |= guest.is_clock_set ? WAKE_CLOCK_SET : 0;
    reasons |= guest.is_ending ? WAKE_END : 0;
    guest.is_clock_set = false;
    return reasons;
}

/* Nobody keeps the page, and what befalls the guest goes on. */
static void be_without(void)
{
    int64_t until_ns = guest_mono_ns() + (int64_t)guest_around(10e6, 100e9);
    for (int i = 0; i < 6 && guest_mono_ns() < until_ns; i++) {
        go_on();
        pass_and_read((until_ns - guest_mono_ns()) / 4 + 1);
    }
}

/* ---- a life --------------------------------------------------------------------------------- */

static void set(const char *source)
{
    strcpy(life.settings.sources[life.settings.source_count++], source);
}

static void add_ptp(void)
{
    char source[64];
    life.ptp_error_ns = (int64_t)guest_around(1e3, 1e6);
    snprintf(source, sizeof(source), "phc:/dev/null,scale=utc,error=%" PRId64 "ns",
             life.ptp_error_ns);
    set(source);
    guest.ptp.is_up = true;
    guest.ptp.off_ns = (int64_t)(guest_between(-0.99, 0.99) * (double)life.ptp_error_ns);
}

static void draw(uint64_t seed)
{
    static const struct life none;
    bool is_quiet = life.is_quiet, is_crowded = life.is_crowded, is_old = life.is_old;
    char path[64];
    life = none;
    life.is_quiet = is_quiet;
    life.is_crowded = is_crowded;
    life.is_old = is_old;
    life.promises.void_since_ns = INT64_MIN;
    life.promises.is_loud = !is_quiet;
    guest_begin(seed, GUEST_IS_NONE);
    guest.kind = (enum guest_kind)(3 * guest_random());
    settings_default(&life.settings);
    life.settings.log_level = is_quiet ? 0 : LOG_INFO;
    life.settings.interval_ns = (uint64_t)guest_around(250e6, 2e9);
    life.promises.interval_sec = (double)life.settings.interval_ns * 1e-9;
    life.settings.never_moved = guest.kind == GUEST_ON_TSC && chance(0.2);
    life.follows_chrony = chance(0.9);
    if (life.follows_chrony)
        set("chrony");
    guest.has_rtc = guest.kind != GUEST_IS_NONE && chance(0.3);
    guest.has_marker = guest.kind != GUEST_IS_NONE && chance(0.5);
    guest.has_utc = guest.has_marker && chance(0.3);
    guest_write_hypervisors_page();
    snprintf(path, sizeof(path), "vmclock:/proc/self/fd/%d", guest.page_fd);
    if (guest.has_marker)
        set(path);
    if (!is_old && chance(0.4))
        set("kernel");
    if (!is_old && chance(0.4))
        add_ptp();
    guest.chronyd.poll_ns = (int64_t)guest_around(2e9, 24e9);
    steer();
    guest.utc_offset_ns += (int64_t)guest_between(-10e6, 10e6);
    guest_pass((int64_t)guest_between(0, 2e9));
    life.happenings = is_crowded ? CROWDED_HAPPENINGS : HAPPENINGS;
    life.next_ns = guest.now_ns + RECOVERY_NS;
    guest_wait = wait_in_life;
}

/* Where the kernel's clock stops with the counter, or a sleep may have been after the last poll. */
static bool is_past_unknown(void)
{
    return (guest.kind == GUEST_ON_TSC && !life.settings.never_moved) || guest.suspended_ns > 0;
}

static void run_daemon(void)
{
    static const struct options options;
    life.starts++;
    guest.is_running = true;
    guest.is_ending = false;
    promises_begun(&life.promises, is_past_unknown());
    if (life.happenings == 0)
        calm_down();
    assert_int_equal(daemon_run(&options, &life.settings), 0);
    guest.is_running = false;
}

static void live(uint64_t seed)
{
    draw(seed);
    while (life.happenings > 0 || guest_mono_ns() <= life.over_ns) {
        run_daemon();
        if (life.happenings > 0)
            be_without();
    }
    guest_end();
    if (life.promises.wrong > 0)
        fail_msg("seed %" PRIu64 ": %u promises broken; first: %s", seed, life.promises.wrong,
                 life.promises.first_wrong);
}

static uint64_t number_of(const char *name, uint64_t other)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : other;
}

static void live_them_all(void)
{
    uint64_t only = number_of("TIMEBASE_TEST_SEED", 0);
    uint64_t first = number_of("TIMEBASE_TEST_FIRST", 1);
    uint64_t worlds = number_of("TIMEBASE_TEST_WORLDS", (uint64_t)repeats(300));
    double tightest = 0, tightest_true = 0;
    unsigned long readings = 0, promised = 0, unreliable = 0, stops = 0, sleeps = 0, starts = 0;
    life.is_quiet = only == 0;
    if (only != 0) {
        live(only);
        return;
    }
    for (uint64_t seed = first; seed < first + worlds; seed++) {
        live(seed);
        tightest = fmax(tightest, life.promises.tightest);
        tightest_true = fmax(tightest_true, life.promises.tightest_true);
        readings += life.promises.readings;
        promised += life.promises.promised;
        unreliable += life.promises.unreliable;
        stops += life.stops;
        sleeps += life.sleeps;
        starts += life.starts;
    }
    print_message("%" PRIu64 " worlds: %lu stops, %lu sleeps, %lu daemons; of %lu readings %lu "
                  "promised UTC, %lu were UNRELIABLE; errors came to %.2f and %.2f of the bounds\n",
                  worlds, stops, sleeps, starts, readings, promised, unreliable, tightest,
                  tightest_true);
    /* And it is no idle talk. */
    assert_true(worlds < 100 || (promised > readings / 3 && tightest_true > 0.5));
}

static void no_world_breaks_the_promises(void **state)
{
    (void)state;
    life.is_crowded = false;
    live_them_all();
}

static void no_crowded_world_breaks_the_promises(void **state)
{
    (void)state;
    life.is_crowded = true;
    live_them_all();
}

/* Each broke a promise once. */
static void worlds_that_broke_a_promise_do_so_no_more(void **state)
{
    static const struct {
        uint64_t seed;
        bool is_old, is_crowded;
    } worlds[] = {
        {8403, true, false},   /* a restart of the lines below where readers still followed them */
        {46832, true, false},  /* a chronyd that told no last offset */
        {48608, true, false},  /* a battery clock that told of a sleep what the counter had told */
        {218008, true, false}, /* a counter that began anew within a line, which was waited for */
        {220173, true, false}, /* lines taken up whose pace might be anything, then a jump */
        {718106, true, false}, /* a stop that took back most of a jump: none was to be told */
        {741053, true, false}, /* a move that the battery clock told again after a stall */
        {757681, true, false}, /* a counter gone back into a line of a wide UTC, and taken up on it */
        {8044, true, true},    /* a counter gone back to where a jump had led over a line */
        {112031, true, true},  /* a battery clock that told of a stop after a stall */
        {16, false, false},    /* an estimate for a bound; a poll dated too late, and a restart */
        {75, false, false},    /* a stop that a PTP clock showed against chronyd */
        {544, false, false},   /* a move before a restart, told while the kernel alone was followed */
        {892, false, false},   /* claims of before and after a move, with a point in common */
    };
    (void)state;
    life.is_quiet = true;
    for (unsigned i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
        life.is_old = worlds[i].is_old;
        life.is_crowded = worlds[i].is_crowded;
        live(worlds[i].seed);
    }
    life.is_old = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_that_broke_a_promise_do_so_no_more),
        cmocka_unit_test(no_world_breaks_the_promises),
        cmocka_unit_test(no_crowded_world_breaks_the_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
