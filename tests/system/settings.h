/* SPDX-License-Identifier: MIT */
/* settings: all that realtime.h can change of a thread and its process, as the kernel tells it. */
#ifndef TEST_SETTINGS_H
#define TEST_SETTINGS_H

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Its wrappers of mlockall() and munlockall() do nothing, and say that they have. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_LOCKS_ARE_REAL 0
#else
#define MEMORY_LOCKS_ARE_REAL 1
#endif

struct settings {
    int policy, priority, nice;
    int timer_slack_ns;
    int is_locked; /* is any memory; -1: not known */
    int files;     /* open descriptors below 64 */
    unsigned char cpus[1024];
};

static inline long settings_locked_kb(void)
{
    char line[256];
    long kb = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        sscanf(line, "VmLck: %ld", &kb);
    if (file != NULL)
        fclose(file);
    return kb;
}

static inline struct settings settings_now(void)
{
    struct settings now;
    struct sched_param parameter = {0};
    memset(&now, 0, sizeof(now));
    now.policy = sched_getscheduler(0);
    sched_getparam(0, &parameter);
    now.priority = parameter.sched_priority;
    now.nice = getpriority(PRIO_PROCESS, 0);
    now.timer_slack_ns = prctl(PR_GET_TIMERSLACK);
    long locked_kb = settings_locked_kb();
    now.is_locked = locked_kb < 0 ? -1 : locked_kb > 0;
    for (int file = 0; file < 64; file++)
        now.files += dup2(file, file) == file;
    sched_getaffinity(0, sizeof(now.cpus), (cpu_set_t *)(void *)now.cpus);
    return now;
}

/* Nicer than now, which anybody may be; whoever began with 19 stays there. 0, or -1. */
static inline int settings_be_nicer(void)
{
    int nice = getpriority(PRIO_PROCESS, 0) + 3;
    return setpriority(PRIO_PROCESS, 0, nice > 19 ? 19 : nice);
}

static inline int settings_equal(const struct settings *a, const struct settings *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static inline int settings_cpus(const struct settings *settings)
{
    int count = 0;
    for (size_t i = 0; i < sizeof(settings->cpus); i++)
        count += __builtin_popcount(settings->cpus[i]);
    return count;
}

/*
 * A thread while memory is locked: its stack must fit the limit of who is not root, so it is small.
 * 0, or why there is none.
 */
static inline int settings_start_thread(pthread_t *thread, void *(*body)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    int error = pthread_create(thread, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

#endif
