/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "load.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "accuracy_walk.h"

#define NOPS 1024
#define FENCES 64
#define MEMORY_BYTES (32 * 1024 * 1024)
#define MEMORY_STEP_BYTES (16 * 1024)

static void do_nothing(void)
{
    for (int i = 0; i < NOPS; i++)
        __asm__ __volatile__("nop");
}

static void fence(void)
{
    for (int i = 0; i < FENCES; i++)
#if defined(__x86_64__) || defined(__i386__)
        __asm__ __volatile__("lfence" : : : "memory");
#else
        (void)timebase_ticks_ordered();
#endif
}

#if defined(__x86_64__)
#define HAVE_CPUID 1
static void identify(void)
{
    unsigned leaf = 0, other = 0;
    __asm__ __volatile__("cpuid" : "+a"(leaf), "+c"(other) : : "ebx", "edx", "memory");
}
#else
#define HAVE_CPUID 0
static void identify(void)
{
}
#endif

static void rewrite_memory(void)
{
    static unsigned char memory[MEMORY_BYTES];
    static size_t at;
    memset(memory + at, (int)(at >> 14), MEMORY_STEP_BYTES);
    at = (at + MEMORY_STEP_BYTES) % MEMORY_BYTES;
}

static void do_nothing_and_walk(void)
{
    do_nothing();
    bench_walk_part();
}

static void identify_and_walk(void)
{
    identify();
    bench_walk_part();
}

static void (*const steps[])(void) = {
    [TIMEBASE_BENCH_LOAD_NOP] = do_nothing,
    [TIMEBASE_BENCH_LOAD_FENCE] = fence,
    [TIMEBASE_BENCH_LOAD_CPUID] = identify,
    [TIMEBASE_BENCH_LOAD_MEMORY] = rewrite_memory,
    [TIMEBASE_BENCH_LOAD_NOP_WALK] = do_nothing_and_walk,
    [TIMEBASE_BENCH_LOAD_CPUID_WALK] = identify_and_walk,
};

#define LOADS ((int)(sizeof steps / sizeof steps[0]))

int timebase_bench_load_possible(int load)
{
    if (load < 0 || load >= LOADS || !bench_walk_prepare())
        return 0;
    return HAVE_CPUID ||
        (load != TIMEBASE_BENCH_LOAD_CPUID && load != TIMEBASE_BENCH_LOAD_CPUID_WALK);
}

void timebase_bench_load_step(int load)
{
    if (timebase_bench_load_possible(load))
        steps[load]();
}

static pthread_t thread;
static bool there, told_to_stop;
static void (*step)(void);

static void *work(void *context)
{
    (void)context;
    while (!__atomic_load_n(&told_to_stop, __ATOMIC_RELAXED))
        step();
    return NULL;
}

/*
 * Ordinary class and one CPU, whatever the caller has: a caller under SCHED_FIFO must preempt it.
 */
static bool attributes_for(pthread_attr_t *attributes, int cpu)
{
    struct sched_param none = {0};
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED) == 0 &&
        pthread_attr_setschedpolicy(attributes, SCHED_OTHER) == 0 &&
        pthread_attr_setschedparam(attributes, &none) == 0 &&
        pthread_attr_setaffinity_np(attributes, sizeof set, &set) == 0;
}

int timebase_bench_load_start(int load, int cpu)
{
    if (cpu < 0 || cpu >= CPU_SETSIZE || !timebase_bench_load_possible(load))
        return TIMEBASE_E_INVALID;
    if (there)
        return TIMEBASE_E_BUSY;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return TIMEBASE_E_PERMISSION;
    step = steps[load];
    __atomic_store_n(&told_to_stop, false, __ATOMIC_RELAXED);
    there =
        attributes_for(&attributes, cpu) && pthread_create(&thread, &attributes, work, NULL) == 0;
    pthread_attr_destroy(&attributes);
    return there ? TIMEBASE_OK : TIMEBASE_E_PERMISSION;
}

void timebase_bench_load_stop(void)
{
    if (!there)
        return;
    __atomic_store_n(&told_to_stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    there = false;
}
