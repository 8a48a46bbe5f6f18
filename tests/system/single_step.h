/* SPDX-License-Identifier: MIT */
/*
 * single_step: a child that the parent stops at every instruction it likes, by ptrace. Where that
 * cannot be (a sandbox, QEMU's user emulation) the parent is told and skips.
 */
#ifndef TEST_SINGLE_STEP_H
#define TEST_SINGLE_STEP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../emulated.h"

/* Set by the child's body, around what is to be looked at. */
struct single_step {
    volatile int has_begun;
    volatile int has_ended;
};

static inline void *single_step_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/*
 * One instruction; false if the child has ended instead, or been refused, or stands at a fault.
 * There it would stand for ever: QEMU 7.2 takes no branch of an s390x's that is stepped, so the
 * child goes on through what lies behind it. unit/writer_ends needs no steps.
 */
static inline bool single_step_once(pid_t child)
{
    int status;
    if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child ||
        !WIFSTOPPED(status))
        return false;
    if (WSTOPSIG(status) != SIGTRAP)
        fprintf(stderr, "single_step: the child stands at signal %d\n", WSTOPSIG(status));
    return WSTOPSIG(status) == SIGTRAP;
}

/* The child runs body(), stopped where it sets has_begun; -1 if it cannot be stopped. */
static inline pid_t single_step_start(struct single_step *marks, void (*body)(void))
{
    int status;
    marks->has_begun = marks->has_ended = 0;
    if (is_emulated()) /* QEMU refuses ptrace, or does nothing and says that it has */
        return -1;
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        raise(SIGSTOP);
        body();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
        return -1;
    while (!marks->has_begun)
        if (!single_step_once(child)) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
    return child;
}

/* Up to this many instructions, and not beyond has_ended; how many there were. */
static inline unsigned single_step_many(const struct single_step *marks, pid_t child,
                                        unsigned steps)
{
    unsigned done = 0;
    while (done < steps && !marks->has_ended && single_step_once(child))
        done++;
    return done;
}

static inline void single_step_kill(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* On at full speed to its end; true if it ended well. */
static inline bool single_step_finish(pid_t child)
{
    int status;
    return ptrace(PTRACE_CONT, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child &&
        WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* How many instructions body() has between its marks; 0 if a child cannot be stopped here. */
static inline unsigned single_step_count(struct single_step *marks, void (*body)(void))
{
    pid_t child = single_step_start(marks, body);
    if (child < 0)
        return 0;
    unsigned steps = single_step_many(marks, child, (unsigned)-1);
    single_step_kill(child);
    return steps;
}

/*
 * To stop at each boundary in turn takes half the square of a program's length in steps of 5 to 20
 * us. Within the budget that is every boundary; of a longer program, as sanitizers make them, every
 * n-th. TIMEBASE_TEST_STEPS is another budget.
 */
static inline unsigned single_step_stride(unsigned steps, uint64_t budget)
{
    const char *variable = getenv("TIMEBASE_TEST_STEPS");
    if (variable != NULL && strtoull(variable, NULL, 10) > 0)
        budget = strtoull(variable, NULL, 10);
    return (unsigned)((uint64_t)steps * steps / 2 / budget) + 1;
}

/* The boundary after this one; the last is always among them. */
static inline unsigned single_step_next(unsigned boundary, unsigned stride, unsigned steps)
{
    return boundary < steps && boundary + stride > steps ? steps : boundary + stride;
}

#endif
