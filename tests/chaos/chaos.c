/* SPDX-License-Identifier: MIT */
/*
 * chaos SEED COMMAND...: runs a command and disturbs the schedule of all its threads and processes,
 * to find tests that need luck. It is their tracer, and holds up
 *
 * - a thread or process that is new, before its first instruction, and now and then its creator;
 * - at random moments any of them, where it happens to be;
 * - now and then one at its next calls of the system, before and after each.
 *
 * Any kernel may do the same to a program on a busy machine, so a test that fails here needs luck.
 * Most delays are short, some longer than any time slice, few longer than a second. SEED decides
 * them; the kernel's own schedule has its part, so the same seed gives much the same disturbances,
 * not the same run.
 *
 * Exits as the command does, or with 128 + its signal; what the command leaves behind is killed.
 * A traced program cannot trace: tests that step through their children skip.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000) /* ns */
#define AT_CALL (SIGTRAP | 0x80) /* as PTRACE_O_TRACESYSGOOD has it */
#define OPTIONS                                                                                    \
    (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |         \
     PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)

/* One thread. It runs, or it has stopped and waits for its release, or for a SIGCONT. */
struct thread {
    pid_t id;
    enum { RUNS, IS_HELD, LISTENS } state;
    bool is_new;         /* until its first stop */
    int signal;          /* that it gets when it is released, or 0 */
    uint64_t release_ns; /* of CLOCK_MONOTONIC */
};

static struct thread *threads;
static size_t threads_count, threads_room;
static uint64_t dice_state;
/* Either often for as long as a time slice, or seldom for as long as a machine is paused. */
static struct manner {
    uint64_t pause_most_ms; /* between two disturbances */
    uint64_t longest_ms;    /* of a disturbance */
} manner;
static const struct manner manners[] = {{5, 200}, {20, 200}, {80, 200}, {200, 2000}};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

/* SplitMix64, as in tests/unit/dice.h, which prints what it does. */
static uint64_t below(uint64_t limit)
{
    uint64_t z = dice_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % limit;
}

static bool one_in(uint64_t many)
{
    return below(many) == 0;
}

static uint64_t between_ms(uint64_t least, uint64_t most)
{
    return least * MS + below((most - least) * MS);
}

/* A new thread often begins at once, and sometimes after all that its creator does next. */
static uint64_t delay_of_new(void)
{
    return one_in(2) ? 0 : one_in(2) ? between_ms(1, 20) : between_ms(50, 200);
}

static uint64_t delay_of_creator(void)
{
    return one_in(3) ? between_ms(1, 50) : 0;
}

static uint64_t delay_somewhere(void)
{
    if (one_in(20))
        return between_ms(50, manner.longest_ms);
    return one_in(2) ? between_ms(1, 20) : between_ms(0, 1);
}

static uint64_t delay_at_call(void)
{
    return one_in(4) ? delay_somewhere() : 0;
}

/* ---- the threads that are known */

static struct thread *thread_of(pid_t id)
{
    for (size_t i = 0; i < threads_count; i++)
        if (threads[i].id == id)
            return &threads[i];
    return NULL;
}

static struct thread *add(pid_t id)
{
    if (threads_count == threads_room) {
        threads_room = threads_room * 2 + 64;
        threads = realloc(threads, threads_room * sizeof *threads);
        if (threads == NULL)
            abort();
    }
    threads[threads_count] = (struct thread){.id = id, .state = RUNS, .is_new = true};
    return &threads[threads_count++];
}

static void forget(pid_t id)
{
    struct thread *thread = thread_of(id);
    if (thread != NULL)
        *thread = threads[--threads_count];
}

/* ---- stops */

static void hold(struct thread *thread, uint64_t delay_ns, int signal)
{
    thread->state = IS_HELD;
    thread->signal = signal;
    thread->release_ns = delay_ns == 0 ? 0 : now_ns() + delay_ns;
}

/* One that is gone meanwhile is refused here; its end is told by waitpid. */
static void release(struct thread *thread)
{
    thread->state = RUNS;
    ptrace(one_in(4) ? PTRACE_SYSCALL : PTRACE_CONT, thread->id, NULL,
           (void *)(intptr_t)thread->signal);
}

/* Other threads end when one calls exec, and the one that calls it takes the process's number. */
static void forget_former(pid_t id)
{
    unsigned long former;
    if (ptrace(PTRACE_GETEVENTMSG, id, NULL, &former) == 0 && (pid_t)former != id)
        forget((pid_t)former);
}

/* Stopped by SIGSTOP or one of its kin, until SIGCONT. */
static bool is_of_group(int event, int signal)
{
    return event == PTRACE_EVENT_STOP && signal != SIGTRAP;
}

/* New, interrupted, or the creator of another. */
static uint64_t delay_at_event(const struct thread *thread, int event)
{
    if (event != PTRACE_EVENT_STOP)
        return delay_of_creator();
    return thread->is_new ? delay_of_new() : delay_somewhere();
}

static void stopped(pid_t id, int status)
{
    int event = status >> 16, signal = WSTOPSIG(status);
    struct thread *thread = thread_of(id);
    if (thread == NULL)
        thread = add(id);
    if (is_of_group(event, signal)) {
        thread->state = LISTENS;
        ptrace(PTRACE_LISTEN, id, NULL, NULL);
        return;
    }
    if (event != 0)
        hold(thread, delay_at_event(thread, event), 0);
    else
        hold(thread, delay_at_call(), signal == AT_CALL ? 0 : signal);
    thread->is_new = false;
    if (event == PTRACE_EVENT_EXEC)
        forget_former(id);
}

/* All that has stopped or ended by now; whether the command has, and how. */
static bool take_reports(pid_t command, int *result)
{
    int status;
    pid_t id;
    while ((id = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
        if (WIFSTOPPED(status)) {
            stopped(id, status);
            continue;
        }
        forget(id);
        if (id == command) {
            *result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            return true;
        }
    }
    return false;
}

/* ---- the loop */

/* When the next of those held is due, or at most the next disturbance. */
static uint64_t release_due(uint64_t disturb_ns)
{
    uint64_t next_ns = disturb_ns, now = now_ns();
    for (size_t i = 0; i < threads_count; i++) {
        if (threads[i].state != IS_HELD)
            continue;
        if (threads[i].release_ns <= now)
            release(&threads[i]);
        else if (threads[i].release_ns < next_ns)
            next_ns = threads[i].release_ns;
    }
    return next_ns;
}

static void disturb_one(void)
{
    if (threads_count == 0)
        return;
    const struct thread *thread = &threads[below(threads_count)];
    if (thread->state == RUNS)
        ptrace(PTRACE_INTERRUPT, thread->id, NULL, NULL);
}

/* Each report raises SIGCHLD, which is blocked: one that came already ends the sleep at once. */
static void sleep_until(uint64_t end_ns, const sigset_t *reports)
{
    uint64_t now = now_ns(), left_ns = end_ns > now ? end_ns - now : 0;
    const struct timespec left = {(time_t)(left_ns / (1000 * MS)), (long)(left_ns % (1000 * MS))};
    sigtimedwait(reports, NULL, &left);
}

static int disturb_until_end(pid_t command, const sigset_t *reports)
{
    int result;
    uint64_t disturb_ns = now_ns();
    while (!take_reports(command, &result)) {
        sleep_until(release_due(disturb_ns), reports);
        if (now_ns() >= disturb_ns) {
            disturb_one();
            disturb_ns = now_ns() + between_ms(0, manner.pause_most_ms);
        }
    }
    return result;
}

/* It stops itself until it is traced; the tracer then sends it on. */
static pid_t start(char **command, const sigset_t *former)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        sigprocmask(SIG_SETMASK, former, NULL);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SEIZE, child, NULL, (void *)OPTIONS) != 0)
        return -1;
    add(child)->is_new = false;
    kill(child, SIGCONT);
    return child;
}

int main(int argc, char **argv)
{
    sigset_t reports, former;
    if (argc < 3) {
        fprintf(stderr, "usage: chaos SEED COMMAND...\n");
        return 2;
    }
    dice_state = strtoull(argv[1], NULL, 0);
    manner = manners[below(sizeof manners / sizeof manners[0])];
    sigemptyset(&reports);
    sigaddset(&reports, SIGCHLD);
    sigprocmask(SIG_BLOCK, &reports, &former);
    pid_t command = start(argv + 2, &former);
    if (command < 0) {
        fprintf(stderr, "chaos: cannot trace %s: %s\n", argv[2], strerror(errno));
        return 77;
    }
    return disturb_until_end(command, &reports);
}
