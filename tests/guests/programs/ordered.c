/* SPDX-License-Identifier: MIT */
/*
 * Millions of ordered readings: each begins when its thread has seen one that another has made. Two threads
 * stay on two CPUs, a third goes from one to the other. Where one thread of an emulator runs all CPUs, it
 * goes on to the next one after each.
 *
 *     ordered counter|kernel|mono|attached|bounded READINGS [corrected]
 *
 * prints "counter: 0 of 10000000 went back, by 0 at most", and before it the same of the raw counter,
 * which each thread reads along with it. Exits with 0 either way; `corrected` as in warps.c, and it
 * prints how many readings of the second CPU were by its lines, not by the kernel's clock.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <timebase.h>

#include "clock/counter/by_cpu.h"

#include "affinity.h"
#include "keeper.h"
#include "readers.h"

enum { CPUS = 2, SECOND = CPUS - 1, MOVER = CPUS, THREADS = CPUS + 1, STAY = 256 };

/* The highest that any thread has seen, in a cache line of its own. */
struct highest {
    uint64_t value;
} __attribute__((aligned(64)));

struct found {
    uint64_t readings, back, most;
} __attribute__((aligned(64)));

static struct highest raw_highest, clock_highest;
static struct found of_raw[THREADS], of_clock[THREADS];
static reader *read_clock;
static uint64_t readings_each, by_lines;

static uint64_t read_raw(void)
{
    return timebase_arch_ticks_ordered();
}

/* For this raw reading of the CPU. The table may be renewed meanwhile: it counts, and decides
 * nothing. */
static bool has_lines(uint64_t raw, unsigned cpu)
{
    const struct by_cpu_table *table = counter_correction();
    if (table == NULL)
        return false;
    uint32_t seq = __atomic_load_n(&table->seq, __ATOMIC_ACQUIRE);
    const struct by_cpu_entry *entry = &table->copy[seq & 1].entries[cpu];
    return __atomic_load_n(&entry->is_known, __ATOMIC_RELAXED) != 0 &&
        (int64_t)(raw - __atomic_load_n(&entry->end_ticks, __ATOMIC_RELAXED)) < 0;
}

/* A thread that sees a reading here reads later than that was read. */
static uint64_t take(struct highest *highest, reader *read, struct found *found)
{
    uint64_t seen = __atomic_load_n(&highest->value, __ATOMIC_ACQUIRE);
    uint64_t now = read();
    found->readings++;
    if (now < seen) {
        found->back++;
        found->most = seen - now > found->most ? seen - now : found->most;
    }
    while (now > seen &&
           !__atomic_compare_exchange_n(&highest->value, &seen, now, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    return now;
}

static void *read_on(void *argument)
{
    int thread = (int)(intptr_t)argument;
    go_to(thread % CPUS);
    for (uint64_t i = 0; i < readings_each; i++) {
        if (thread == MOVER && i % STAY == 0)
            go_to((int)(i / STAY % CPUS));
        uint64_t raw = take(&raw_highest, read_raw, &of_raw[thread]);
        if (thread == SECOND)
            by_lines += has_lines(raw, SECOND);
        take(&clock_highest, read_clock, &of_clock[thread]);
        timebase_arch_relax();
    }
    return NULL;
}

static void show(const char *name, const struct found *found)
{
    struct found sum = {0};
    for (int i = 0; i < THREADS; i++) {
        sum.readings += found[i].readings;
        sum.back += found[i].back;
        sum.most = found[i].most > sum.most ? found[i].most : sum.most;
    }
    printf("%s: %" PRIu64 " of %" PRIu64 " went back, by %" PRIu64 " at most\n", name, sum.back,
           sum.readings, sum.most);
}

int main(int count, char **arguments)
{
    const char *name = count > 2 ? arguments[1] : "";
    read_clock = reader_named(name);
    if (read_clock == NULL) {
        fprintf(stderr, "usage: ordered " READERS " READINGS [corrected]\n");
        return 2;
    }
    readings_each = strtoull(arguments[2], NULL, 10) / THREADS + 1;
    int is_corrected = count > 3 && strcmp(arguments[3], "corrected") == 0;
    pthread_t threads[THREADS];
    if (is_corrected)
        keeper_begin();
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, read_on, (void *)(intptr_t)i) != 0)
            return 2;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (is_corrected) {
        keeper_end();
        printf("cpu 1: %" PRIu64 " of %" PRIu64 " by its lines\n", by_lines, readings_each);
    }
    show("raw", of_raw);
    show(name, of_clock);
    return 0;
}
