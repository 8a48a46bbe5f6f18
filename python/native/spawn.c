/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "spawn.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

enum { SIGNALS = 64, NOT_STARTED = 127 };

/* What a child needs: on the parent's stack, since the parent waits. */
struct birth {
    const struct timebase_spawn *spawn;
    struct timebase_spawn_child *child;
};

static uint64_t signal_bit(int number)
{
    return (uint64_t)1 << (number - 1);
}

/* Handlers of this process, and what Python ignores for itself, but no other program expects. */
static int is_to_be_reset(int number)
{
    struct sigaction action;
    if (number == SIGKILL || number == SIGSTOP || sigaction(number, NULL, &action) != 0)
        return 0;
    if (action.sa_handler == SIG_IGN)
        return number == SIGPIPE || number == SIGXFSZ;
    return action.sa_handler != SIG_DFL;
}

int timebase_spawn_prepare(struct timebase_spawn *spawn)
{
    if (spawn == NULL)
        return TIMEBASE_E_INVALID;
    int before = errno;
    memset(spawn, 0, sizeof(*spawn));
    spawn->files[0] = spawn->files[1] = spawn->files[2] = spawn->wake = -1;
    spawn->most = 1;
    spawn->parent = getpid();

    struct sched_param parameters = {0};
    sched_getparam(0, &parameters);
    spawn->policy = sched_getscheduler(0);
    spawn->priority = parameters.sched_priority;
    spawn->timer_slack_ns = (uint64_t)prctl(PR_GET_TIMERSLACK);

    sigset_t blocked;
    sigemptyset(&blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number <= SIGNALS; number++) {
        if (sigismember(&blocked, number) == 1)
            spawn->blocked |= signal_bit(number);
        if (is_to_be_reset(number))
            spawn->handled |= signal_bit(number);
    }
    errno = before;
    return TIMEBASE_OK;
}

static void restore_scheduling(const struct timebase_spawn *spawn)
{
    struct sched_param parameters = {.sched_priority = spawn->priority};
    sched_setscheduler(0, spawn->policy, &parameters);
    prctl(PR_SET_TIMERSLACK, spawn->timer_slack_ns, 0, 0, 0);
    if (spawn->cpu_words > 0)
        syscall(SYS_sched_setaffinity, 0, (size_t)spawn->cpu_words * sizeof(uint64_t), spawn->cpus);
}

/* A handler of the parent would run in the parent's memory: they go before signals come. */
static void restore_signals(const struct timebase_spawn *spawn)
{
    struct sigaction action = {0};
    action.sa_handler = SIG_DFL;
    sigset_t blocked;
    sigemptyset(&blocked);
    for (int number = 1; number <= SIGNALS; number++) {
        if (spawn->handled & signal_bit(number))
            sigaction(number, &action, NULL);
        if (spawn->blocked & signal_bit(number))
            sigaddset(&blocked, number);
    }
    sigprocmask(SIG_SETMASK, &blocked, NULL);
}

static int place_files(const struct timebase_spawn *spawn)
{
    for (int file = 0; file < 3; file++)
        if (spawn->files[file] >= 0 && dup2(spawn->files[file], file) < 0)
            return -1;
    return 0;
}

/* In the child, on its own stack and in the parent's memory: async-signal-safe calls only, and
 * nothing of the clock, whose owner is the process. */
static int become_program(void *argument)
{
    const struct birth *birth = argument;
    const struct timebase_spawn *spawn = birth->spawn;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != spawn->parent)
        _exit(NOT_STARTED); /* the parent died before it could be asked for */
    restore_scheduling(spawn);
    if (place_files(spawn) == 0) {
        restore_signals(spawn);
        birth->child->exec_ticks = timebase_ticks_ordered();
        execve(spawn->path, spawn->argv, spawn->envp);
    }
    birth->child->error = errno;
    _exit(NOT_STARTED);
}

static void give_birth(struct timebase_spawn *spawn, struct timebase_spawn_child *child)
{
    struct birth birth = {spawn, child};
    char *stack_end = (char *)spawn->stack + sizeof(spawn->stack);
    stack_end -= (uintptr_t)stack_end % 16;

    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int process = clone(become_program, stack_end, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
                        &birth, &child->file);
    if (process < 0)
        child->error = errno;
    child->process = process < 0 ? 0 : process;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A free place, or NULL if `most` of them are taken. Counts who is still running. */
static struct timebase_spawn_child *free_place(struct timebase_spawn *spawn)
{
    struct timebase_spawn_child *found = NULL;
    int running = 0;
    for (int i = 0; i < TIMEBASE_SPAWN_CHILDREN; i++) {
        /* Acquire: the reader has let go of all that stands there. */
        int state = __atomic_load_n(&spawn->children[i].state, __ATOMIC_ACQUIRE);
        if (state == TIMEBASE_SPAWN_FREE)
            found = found ? found : &spawn->children[i];
        else
            running++;
    }
    spawn->overlaps += running > 0;
    if (running >= spawn->most)
        found = NULL;
    spawn->held += found == NULL;
    return found;
}

void timebase_spawn_start(void *argument)
{
    struct timebase_spawn *spawn = argument;
    uint64_t asked = timebase_ticks_ordered();
    if (timebase_wait_rehearsing())
        return;
    struct timebase_spawn_child *child = free_place(spawn);
    if (child == NULL)
        return;
    int before = errno; /* the child has this thread's */
    *child = (struct timebase_spawn_child){.file = -1, .asked_ticks = asked};
    give_birth(spawn, child);
    child->back_ticks = timebase_ticks_ordered();
    /* Release: a thread that sees the state sees what was stored before it. */
    __atomic_store_n(&child->state, TIMEBASE_SPAWN_STARTED, __ATOMIC_RELEASE);
    ssize_t woken = write(spawn->wake, "", 1);
    (void)woken; /* a full pipe wakes as well */
    errno = before;
}

int timebase_spawn_take(const struct timebase_spawn *spawn, uint32_t i,
                        struct timebase_spawn_child *out)
{
    if (i >= TIMEBASE_SPAWN_CHILDREN ||
        __atomic_load_n(&spawn->children[i].state, __ATOMIC_ACQUIRE) == TIMEBASE_SPAWN_FREE)
        return 0;
    *out = spawn->children[i];
    return 1;
}

void timebase_spawn_free(struct timebase_spawn *spawn, uint32_t i)
{
    if (i < TIMEBASE_SPAWN_CHILDREN)
        __atomic_store_n(&spawn->children[i].state, TIMEBASE_SPAWN_FREE, __ATOMIC_RELEASE);
}
