/* SPDX-License-Identifier: MIT */
/* The calls that go to the kernel at once: how many are left, whatever signals come. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>

#include "../system/single_step.h"
#include "preload/followed.h"

static struct single_step *marks;

static void take_one(int number)
{
    (void)number;
    followed_take_cheap_call();
}

static void take_the_last(void)
{
    signal(SIGUSR1, take_one);
    followed_cheap_calls = 1;
    marks->has_begun = 1;
    followed_take_cheap_call();
    marks->has_ended = 1;
    _exit(followed_cheap_calls <= 1 ? 0 : 1);
}

/* Or there would be 4,294,967,295, in which a kernel that has become dear is not noticed. */
static void no_more_are_left_if_a_handler_takes_one_at_any_instruction(void **state)
{
    (void)state;
    marks = single_step_memory(sizeof(*marks));
    assert_non_null(marks);
    unsigned steps = single_step_count(marks, take_the_last);
    if (steps == 0)
        skip(); /* no child can be single-stepped here */
    for (unsigned n = 0; n <= steps; n++) {
        int status;
        pid_t child = single_step_start(marks, take_the_last);
        assert_true(child > 0);
        assert_int_equal(single_step_many(marks, child, n), n);
        assert_int_equal(ptrace(PTRACE_CONT, child, NULL, SIGUSR1), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_are_left_if_a_handler_takes_one_at_any_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
