/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <sched.h>
#include <stdlib.h>

/* The CPU numbers allowed to this process may have gaps. */
static int nth_cpu(int index)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -1;
    int wanted = index % CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && wanted-- == 0)
            return cpu;
    return -1;
}

static pthread_mutex_t once_lock = PTHREAD_MUTEX_INITIALIZER;
static int cpus[2] = {-2, -2};

/* Looked up before any thread is pinned: a pinned thread is allowed one CPU only. */
static int cpu_for(int index)
{
    pthread_mutex_lock(&once_lock);
    if (cpus[0] == -2) {
        cpus[0] = nth_cpu(0);
        cpus[1] = nth_cpu(1);
    }
    pthread_mutex_unlock(&once_lock);
    return cpus[index % 2];
}

void threads_pin(int index)
{
    int cpu = cpu_for(index);
    cpu_set_t one;
    if (cpu < 0)
        return;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

struct start {
    int index;
    void *(*run)(void *);
    void *argument;
};

static void *pinned(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    threads_pin(start.index);
    return start.run(start.argument);
}

pthread_t threads_start(int index, void *(*run)(void *), void *argument)
{
    struct start *start = malloc(sizeof *start);
    pthread_t thread;
    cpu_for(0);
    start->index = index;
    start->run = run;
    start->argument = argument;
    pthread_create(&thread, NULL, pinned, start);
    return thread;
}

uint64_t threads_reads(uint64_t usual)
{
    const char *variable = getenv("TIMEBASE_TEST_READS");
    if (variable != NULL)
        return strtoull(variable, NULL, 10);
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) ||                               \
    !(defined(__x86_64__) || defined(__i386__))
    return usual / 10;
#else
    return usual;
#endif
}
