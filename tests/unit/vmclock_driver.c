/* SPDX-License-Identifier: MIT */
/* vmclock's driver, on a file in the device's place. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <timebase/error.h>

#include "kernel_now.h"
#include "source_file.h"
#include "vmclock_page.h"

static const struct source_driver *const source = &source_driver_vmclock;

static void write_page(size_t length)
{
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, page, length), (ssize_t)length);
    close(fd);
}

static int claim_once(struct claim *claim)
{
    memset(&context, 0, sizeof(context));
    int error = source->open(&context, path);
    if (error == TIMEBASE_OK)
        error = source->claim(&context, claim);
    source->close(&context);
    return error;
}

static void a_file_that_says_the_truth_is_a_claim_that_contains_it(void **state)
{
    struct claim claim;
    (void)state;
    fill();
    /* counter and CLOCK_REALTIME now; the period is not ours, but it has no time to matter. */
    put(0x28, 8, timebase_ticks_ordered());
    int64_t utc_ns = kernel_now(CLOCK_REALTIME);
    put(0x48, 8, (uint64_t)(utc_ns / SEC_NS + 37));
    put(0x50, 8, (uint64_t)(utc_ns % SEC_NS) * GHZ_PERIOD);
    put(0x60, 8, 4000000000); /* however long we are held up */
    write_page(sizeof(page));
    assert_int_equal(claim_once(&claim), TIMEBASE_OK);
    assert_true(claim.is_synchronized);
    assert_true((uint64_t)llabs(claim.offset_ns) <= claim.error_ns);
    assert_true(claim.mono_ns <= kernel_now(CLOCK_MONOTONIC));
}

static void a_file_cut_short_is_an_error_and_not_a_signal(void **state)
{
    struct claim claim;
    (void)state;
    fill();
    put(0x28, 8, timebase_ticks_ordered());
    write_page(VMCLOCK_SIZE);
    assert_int_equal(claim_once(&claim), TIMEBASE_OK);
    write_page(VMCLOCK_SIZE_MIN - 1);
    assert_int_equal(claim_once(&claim), TIMEBASE_E_FORMAT);
    write_page(0);
    assert_int_equal(claim_once(&claim), TIMEBASE_E_FORMAT);
}

static void an_update_that_does_not_end_is_torn(void **state)
{
    struct claim claim;
    (void)state;
    fill();
    put(0x0c, 4, 9);
    write_page(sizeof(page));
    assert_int_equal(claim_once(&claim), TIMEBASE_E_TORN);
    assert_non_null(strstr(source_reason(&context), "update"));
}

/* A file is always readable: who waited for one would never rest. */
static void a_file_in_the_device_s_place_is_not_waited_for(void **state)
{
    struct claim claim;
    (void)state;
    fill();
    put(0x18, 8, VMCLOCK_TAI_OFFSET_VALID | VMCLOCK_NOTIFICATION_PRESENT);
    put(0x28, 8, timebase_ticks_ordered());
    write_page(sizeof(page));
    memset(&context, 0, sizeof(context));
    assert_int_equal(source->open(&context, path), TIMEBASE_OK);
    assert_int_equal(source->fd(&context), -1);
    assert_int_equal(source->claim(&context, &claim), TIMEBASE_OK);
    assert_int_equal(source->fd(&context), -1);
    source->close(&context);
}

static void what_cannot_be_opened_has_a_reason(void **state)
{
    (void)state;
    memset(&context, 0, sizeof(context));
    assert_int_equal(source->open(&context, "/nowhere/vmclock0"), TIMEBASE_E_REFERENCE);
    assert_non_null(strstr(source_reason(&context), "opened"));
    source->close(&context);
    memset(&context, 0, sizeof(context));
    if (geteuid() == 0)
        return; /* who may open everything is refused nothing */
    chmod(path, 0);
    assert_int_equal(source->open(&context, path), TIMEBASE_E_PERMISSION);
    chmod(path, 0600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_says_the_truth_is_a_claim_that_contains_it),
        cmocka_unit_test(a_file_cut_short_is_an_error_and_not_a_signal),
        cmocka_unit_test(an_update_that_does_not_end_is_torn),
        cmocka_unit_test(a_file_in_the_device_s_place_is_not_waited_for),
        cmocka_unit_test(what_cannot_be_opened_has_a_reason),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
