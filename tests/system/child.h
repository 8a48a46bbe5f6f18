/* SPDX-License-Identifier: MIT */
/*
 * child: what would spoil this process is done in another. cmocka's assertions leave a test by
 * longjmp and so do not work there: EXPECT says what failed and ends the child.
 */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "skipped.h"

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            child_fail(__FILE__, __LINE__, #condition);                                            \
    } while (0)

__attribute__((noreturn)) static inline void child_fail(const char *file, int line,
                                                        const char *what)
{
    dprintf(STDERR_FILENO, "%s:%d: in a child: %s\n", file, line, what);
    _exit(1);
}

/* A child that cannot do what it was made for. */
__attribute__((noreturn)) static inline void child_skip(const char *reason)
{
    dprintf(STDOUT_FILENO, "skipped: %s\n", reason);
    _exit(SKIPPED);
}

static inline int child_status(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs body() in a child: its exit status, or 128 and the signal that killed it. */
static inline int child_run(void (*body)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    return child_status(child);
}

#define child_must_pass(body)                                                                      \
    do {                                                                                           \
        int child_result = child_run(body);                                                        \
        if (child_result == SKIPPED)                                                               \
            skip_because("see above");                                                             \
        assert_int_equal(child_result, 0);                                                         \
    } while (0)

#endif
