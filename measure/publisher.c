/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "publisher.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include <timebase.h>

static pthread_t thread;
static bool running;
static bool at_work, told_to_stop;

static void nap_1ms(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* All CPUs but the caller's. If that is refused, the scheduler chooses. */
static void leave_cpu(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int other = 0; other < sysconf(_SC_NPROCESSORS_CONF) && other < CPU_SETSIZE; other++)
        if (other != cpu)
            CPU_SET(other, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void *publish(void *reader_cpu)
{
    leave_cpu(*(int *)reader_cpu);
    while (!__atomic_load_n(&told_to_stop, __ATOMIC_RELAXED)) {
        timebase_clock_maintain(timebase_clock_default());
        __atomic_store_n(&at_work, true, __ATOMIC_RELEASE);
        nap_1ms();
    }
    return NULL;
}

void bench_publisher_start(void)
{
    static int reader_cpu;
    reader_cpu = sched_getcpu();
    at_work = told_to_stop = false;
    timebase_clock_set_maintenance(timebase_clock_default(), TIMEBASE_MAINTENANCE_MANUAL);
    running = pthread_create(&thread, NULL, publish, &reader_cpu) == 0;
    while (running && !__atomic_load_n(&at_work, __ATOMIC_ACQUIRE))
        nap_1ms();
}

void bench_publisher_stop(void)
{
    __atomic_store_n(&told_to_stop, true, __ATOMIC_RELAXED);
    if (running)
        pthread_join(thread, NULL);
    timebase_clock_set_maintenance(timebase_clock_default(), TIMEBASE_MAINTENANCE_AUTOMATIC);
}
