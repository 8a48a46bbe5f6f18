/* SPDX-License-Identifier: MIT */
/* PTP clocks, by answers in the kernel's place. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/ptp_clock.h>
#include <stdlib.h>
#include <string.h>

#include <timebase/error.h>
#include <timebase/page.h>

#include "clock/reference/reference.h"
#include "kernel_now.h"
#include "daemon/sources/phc.h"

#define SEC_NS 1000000000
#define TAI_SEC 37

/* What the device is like: what it refuses (errno), how far off, how slow. */
static struct {
    int caps_errno, precise_errno, extended_errno, clock_errno;
    int cross_timestamping;
    bool has_tai;
    int64_t ahead_ns; /* of CLOCK_REALTIME, its TAI - UTC not counted */
    int64_t scale_sec;
    int64_t width_ns;     /* of a bracket of the extended call; each next one twice as wide */
    int64_t fixed_ns;     /* shows always this, if not 0 */
    uint32_t nsec;        /* instead of a good one, if not 0 */
    uint32_t system_nsec; /* the same, of the system clock beside it */
    int precise_calls, extended_calls, clock_calls;
} device;

static int64_t device_ns(int64_t utc_ns)
{
    return device.fixed_ns != 0 ? device.fixed_ns
                                : utc_ns + device.ahead_ns + device.scale_sec * SEC_NS;
}

static struct ptp_clock_time to_time(int64_t ns)
{
    struct ptp_clock_time time = {.sec = ns / SEC_NS, .nsec = (uint32_t)(ns % SEC_NS)};
    if (device.nsec != 0)
        time.nsec = device.nsec;
    return time;
}

static int refuse(int error)
{
    errno = error;
    return error != 0 ? -1 : 0;
}

static int answer_precise(struct ptp_sys_offset_precise *both)
{
    int64_t utc_ns = kernel_now(CLOCK_REALTIME);
    device.precise_calls++;
    both->device = to_time(device_ns(utc_ns));
    both->sys_realtime = to_time(utc_ns);
    if (device.system_nsec != 0)
        both->sys_realtime.nsec = device.system_nsec;
    return refuse(device.precise_errno);
}

/* The device is read in the middle; so the narrowest bracket alone shows it exactly. */
static int answer_extended(struct ptp_sys_offset_extended *samples)
{
    device.extended_calls++;
    for (unsigned i = 0; i < samples->n_samples; i++) {
        int64_t utc_ns = kernel_now(CLOCK_REALTIME);
        int64_t width_ns = device.width_ns << ((i + 3) % 5);
        samples->ts[i][0] = to_time(utc_ns - width_ns / 2);
        samples->ts[i][1] = to_time(device_ns(utc_ns));
        samples->ts[i][2] = to_time(utc_ns + width_ns / 2);
    }
    return refuse(device.extended_errno);
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
    (void)fd;
    if (request == PTP_CLOCK_GETCAPS) {
        ((struct ptp_clock_caps *)argument)->cross_timestamping = device.cross_timestamping;
        return refuse(device.caps_errno);
    }
    if (request == PTP_SYS_OFFSET_PRECISE)
        return answer_precise((struct ptp_sys_offset_precise *)argument);
    assert_true(request == PTP_SYS_OFFSET_EXTENDED);
    return answer_extended((struct ptp_sys_offset_extended *)argument);
}

static int64_t fake_clock(clockid_t id)
{
    if (id == CLOCK_REALTIME)
        return kernel_now(CLOCK_REALTIME);
    assert_int_equal((int)id & 7, 3); /* CLOCKFD */
    device.clock_calls++;
    return refuse(device.clock_errno) != 0 ? INT64_MIN : device_ns(kernel_now(CLOCK_REALTIME));
}

static bool fake_tai(int64_t *sec)
{
    *sec = TAI_SEC;
    return device.has_tai;
}

static const struct phc_calls fake = {fake_ioctl, fake_clock, fake_tai, reference_utc_offset};

static struct phc opened(const char *options)
{
    struct phc phc;
    char argument[128] = "/dev/null";
    device.has_tai = true;
    device.scale_sec = TAI_SEC;
    strcat(argument, options);
    assert_int_equal(phc_open(&phc, argument, &fake), TIMEBASE_OK);
    return phc;
}

static struct claim claim_of(struct phc *phc)
{
    struct claim claim;
    assert_int_equal(phc_claim(phc, &claim), TIMEBASE_OK);
    assert_null(phc->reason);
    return claim;
}

static int clear(void **state)
{
    (void)state;
    memset(&device, 0, sizeof(device));
    return 0;
}

static void a_precise_device_is_compared_at_one_instant(void **state)
{
    (void)state;
    device.cross_timestamping = 1;
    device.ahead_ns = -4321; /* behind: the system clock is fast */
    struct phc phc = opened(",error=500ns");
    int64_t before_ns = kernel_now(CLOCK_MONOTONIC);
    struct claim claim = claim_of(&phc);
    int64_t after_ns = kernel_now(CLOCK_MONOTONIC);
    assert_true(claim.offset_ns == 4321);
    assert_in_range(claim.error_ns, 500, 505);
    assert_true(before_ns <= claim.mono_ns && claim.mono_ns <= after_ns);
    assert_true(claim.is_synchronized);
    assert_int_equal(claim.flags, TIMEBASE_LINE_TAI_VALID | TAI_SEC << TIMEBASE_LINE_TAI_SHIFT);
    assert_true(claim.is_slewed_by_others);
    assert_int_equal(device.extended_calls, 0);
    phc_close(&phc);
}

static void the_narrowest_bracket_counts_and_its_half(void **state)
{
    (void)state;
    device.width_ns = 1000;
    device.ahead_ns = 70;
    struct phc phc = opened(",error=1us");
    struct claim claim = claim_of(&phc);
    assert_true(claim.offset_ns == -70);
    assert_in_range(claim.error_ns, 1000 + 500, 1000 + 500 + 5);
    phc_close(&phc);
}

static void what_a_device_refuses_is_not_asked_again(void **state)
{
    (void)state;
    device.cross_timestamping = 1;
    device.precise_errno = EOPNOTSUPP;
    device.extended_errno = ENOTTY;
    struct phc phc = opened(",error=1us");
    struct claim claim = claim_of(&phc);
    assert_int_equal(device.clock_calls, 5);
    /* whatever held us up is within the bracket */
    assert_true((uint64_t)llabs(claim.offset_ns) <= claim.error_ns);
    claim_of(&phc);
    assert_int_equal(device.precise_calls, 1);
    assert_int_equal(device.extended_calls, 1);
    phc_close(&phc);
}

static void other_failures_are_passing(void **state)
{
    struct claim claim;
    (void)state;
    device.cross_timestamping = 1;
    device.precise_errno = EBUSY;
    struct phc phc = opened("");
    assert_int_equal(phc_claim(&phc, &claim), TIMEBASE_E_REFERENCE);
    assert_non_null(phc.reason);
    device.precise_errno = 0;
    claim_of(&phc);
    phc_close(&phc);
    device.precise_errno = EPERM;
    phc = opened("");
    assert_int_equal(phc_claim(&phc, &claim), TIMEBASE_E_PERMISSION);
    phc_close(&phc);
}

static void the_last_way_refused_is_a_failure_and_the_end(void **state)
{
    struct claim claim;
    (void)state;
    device.extended_errno = EOPNOTSUPP;
    device.clock_errno = EINVAL;
    struct phc phc = opened("");
    assert_int_equal(phc_claim(&phc, &claim), TIMEBASE_E_REFERENCE);
    phc_close(&phc);
}

static void without_anybodys_word_it_is_an_estimate(void **state)
{
    (void)state;
    device.cross_timestamping = 1;
    struct phc phc = opened("");
    struct claim claim = claim_of(&phc);
    assert_false(claim.is_synchronized);
    assert_in_range(claim.error_ns, 1000000, 1000005);
    phc_close(&phc);
}

static void tai_without_the_kernel_s_offset_is_refused_with_a_reason(void **state)
{
    struct claim claim;
    (void)state;
    device.cross_timestamping = 1;
    struct phc phc = opened("");
    device.has_tai = false;
    assert_int_equal(phc_claim(&phc, &claim), TIMEBASE_E_REFERENCE);
    assert_non_null(strstr(phc.reason, "TAI"));
    phc_close(&phc);
}

static void a_device_that_shows_utc_needs_no_offset(void **state)
{
    (void)state;
    device.cross_timestamping = 1;
    struct phc phc = opened(",scale=utc,error=1us");
    device.has_tai = false;
    device.scale_sec = 0;
    struct claim claim = claim_of(&phc);
    assert_true(claim.offset_ns == 0);
    assert_int_equal(claim.flags, 0);
    phc_close(&phc);
}

static void a_device_that_was_never_set_claims_nothing(void **state)
{
    const int64_t unset[] = {1, 86400 * (int64_t)SEC_NS, 1500000000 * (int64_t)SEC_NS};
    struct claim claim;
    (void)state;
    device.cross_timestamping = 1;
    struct phc phc = opened("");
    for (unsigned i = 0; i < 3; i++) {
        device.fixed_ns = unset[i];
        assert_int_equal(phc_claim(&phc, &claim), TIMEBASE_E_REFERENCE);
        assert_non_null(strstr(phc.reason, "set"));
    }
    device.fixed_ns = 0;
    device.nsec = SEC_NS; /* no such fraction */
    assert_int_equal(phc_claim(&phc, &claim), TIMEBASE_E_REFERENCE);
    phc_close(&phc);
}

/* Its device's time is one, the system clock's beside it is not. */
static void a_driver_that_shows_no_system_time_is_not_believed(void **state)
{
    struct claim claim;
    (void)state;
    device.cross_timestamping = 1;
    struct phc phc = opened("");
    device.system_nsec = SEC_NS;
    assert_int_equal(phc_claim(&phc, &claim), TIMEBASE_E_REFERENCE);
    assert_non_null(strstr(phc.reason, "cannot be read"));
    device.system_nsec = 0;
    assert_int_equal(phc_claim(&phc, &claim), TIMEBASE_OK);
    phc_close(&phc);
}

static void a_file_that_is_no_ptp_clock_is_said_to_be_none(void **state)
{
    struct phc phc;
    (void)state;
    assert_int_equal(phc_open(&phc, "/dev/null", &phc_system_calls), TIMEBASE_E_UNSUPPORTED);
    assert_non_null(strstr(phc.reason, "not a PTP clock"));
    assert_int_equal(phc.fd, -1);
    assert_int_equal(phc_open(&phc, "/nowhere/ptp0", &phc_system_calls), TIMEBASE_E_REFERENCE);
    phc_close(&phc);
}

static void arguments_that_mean_nothing_are_refused(void **state)
{
    static const char *const bad[] = {NULL,
                                      "",
                                      ",error=1us",
                                      "/dev/null,error",
                                      "/dev/null,error=1",
                                      "/dev/null,error=-1us",
                                      "/dev/null,scale=gps",
                                      "/dev/null,accuracy=1us",
                                      "/dev/null,error=nan",
                                      "/dev/null,"};
    struct phc phc;
    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (phc_open(&phc, bad[i], &fake) != TIMEBASE_E_INVALID)
            fail_msg("accepted: %s", bad[i]);
}

static void durations_have_units(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{",error=250ns", 250},
                {",error=1.5us", 1500},
                {",error=2ms", 2000000},
                {",error=0.25s", 250000000},
                {",error=0ns", 0}};
    (void)state;
    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct phc phc = opened(good[i].text);
        assert_true(phc.error_ns == good[i].ns);
        phc_close(&phc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_precise_device_is_compared_at_one_instant, clear),
        cmocka_unit_test_setup(the_narrowest_bracket_counts_and_its_half, clear),
        cmocka_unit_test_setup(what_a_device_refuses_is_not_asked_again, clear),
        cmocka_unit_test_setup(other_failures_are_passing, clear),
        cmocka_unit_test_setup(the_last_way_refused_is_a_failure_and_the_end, clear),
        cmocka_unit_test_setup(without_anybodys_word_it_is_an_estimate, clear),
        cmocka_unit_test_setup(tai_without_the_kernel_s_offset_is_refused_with_a_reason, clear),
        cmocka_unit_test_setup(a_device_that_shows_utc_needs_no_offset, clear),
        cmocka_unit_test_setup(a_device_that_was_never_set_claims_nothing, clear),
        cmocka_unit_test_setup(a_driver_that_shows_no_system_time_is_not_believed, clear),
        cmocka_unit_test_setup(a_file_that_is_no_ptp_clock_is_said_to_be_none, clear),
        cmocka_unit_test_setup(arguments_that_mean_nothing_are_refused, clear),
        cmocka_unit_test_setup(durations_have_units, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
