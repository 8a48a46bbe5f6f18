/* SPDX-License-Identifier: MIT */
/* Without /sys and /proc: an empty folder in their place, and a real chroot. Works, says less. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock/counter/probe.h"
#include <timebase/error.h>

static char folder[] = "/tmp/timebase-no-files-XXXXXX";

static void test_probe_works_and_says_less(void **state)
{
    struct timebase_counter counter;
    (void)state;
    counter_set_root(folder);
    assert_int_equal(timebase_counter_probe(&counter), TIMEBASE_OK);
    assert_string_equal(counter.kernel_clocksource, "");
    assert_string_equal(counter.kernel_available, "");
    assert_true(counter.frequency_hz > 0);
    assert_true(counter.frequency_source != TIMEBASE_FREQUENCY_DEVICE_TREE);
    assert_true(counter.frequency_source != TIMEBASE_FREQUENCY_CPUINFO);
    assert_in_range(counter.quality, 1, 99);
    if (counter.id == TIMEBASE_COUNTER_OS)
        return; /* nothing more to be asked about it */
    assert_true(counter.reasons & TIMEBASE_REASON_KERNEL_SILENT);
    assert_true(counter.counter_class == TIMEBASE_CLASS_INVARIANT ||
                counter.counter_class == TIMEBASE_CLASS_UNKNOWN);
    assert_non_null(timebase_counter_reason(&counter, 0));
}

/* The child's answers, as its exit status. */
enum { WORKS = 0, FAILS = 1, NOT_PERMITTED = 77 };

static int probe_in_chroot(void)
{
    struct timebase_counter counter;
    counter_set_root("");
    if (chroot(folder) != 0 || chdir("/") != 0)
        return NOT_PERMITTED;
    if (timebase_counter_probe(&counter) != TIMEBASE_OK)
        return FAILS;
    int silent = counter.kernel_clocksource[0] == '\0' && counter.frequency_hz > 0;
    uint64_t first = timebase_ticks_ordered();
    return silent && (int64_t)(timebase_ticks_ordered() - first) >= 0 ? WORKS : FAILS;
}

static void test_chroot(void **state)
{
    int status = -1;
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(probe_in_chroot());
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_PERMITTED)
        skip();
    assert_int_equal(WEXITSTATUS(status), WORKS);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe_works_and_says_less),
        cmocka_unit_test(test_chroot),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
