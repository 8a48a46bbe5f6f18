/* SPDX-License-Identifier: MIT */
/* In an empty root there is neither /proc nor /sys: the clock needs none. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "whole_clock.h"

static char empty_root[] = "/tmp/timebase-no-proc-XXXXXX";

static void enter(void)
{
    if (chroot(empty_root) != 0 || chdir("/") != 0)
        child_skip("chroot is not permitted");
    EXPECT(access("/proc", F_OK) != 0 && access("/sys", F_OK) != 0);
    whole_clock_check(timebase_clock_default());
}

static void the_clock_works_in_an_empty_root(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("only root may chroot");
    assert_non_null(mkdtemp(empty_root));
    int result = child_run(enter);
    rmdir(empty_root);
    if (result == SKIPPED)
        skip_because("see above");
    assert_int_equal(result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_works_in_an_empty_root),
    };
    return run_all(tests);
}
