/* SPDX-License-Identifier: MIT
 *
 * How exactly others wait, all in one thread on one CPU, in interleaved batches: whatever slows the
 * machine down for a while hits all of them.
 *
 *   driver CPU ROUNDS FILE
 *
 * Each line on standard input runs one round of batches, and is answered by "round"; so somebody
 * else can use the CPU between rounds. At the end of the input the trials go to FILE, as doubles,
 * and a line for each cell and fact to standard output (results.c).
 */
#define _GNU_SOURCE
#include "../../instruments.h"
#include "results.h"
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PRIORITY = 80 };

double assumed_ticks_per_ns;

static const struct group *const others[] = {
    &kernel_group,
    &chrono_group,
#ifdef WITH_DPDK
    &dpdk_group,
#endif
#ifdef WITH_RUST
    &rust_group,
#endif
};
enum { OTHERS = sizeof others / sizeof *others };

/* The kernel stops real-time threads that never sleep (sched_rt_runtime_us): a nap of a seventh of
 * what was used keeps this one below its share. */
static void nap(int64_t used_ns)
{
    struct timespec rest = {0, (long)(used_ns / 7 % 1000000000)};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
}

/* Another order each round, so that no peer always follows the same neighbour. */
static void shuffle(struct cell **cells, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t other = (size_t)(*state >> 33) % i;
        struct cell *moved = cells[i - 1];
        cells[i - 1] = cells[other];
        cells[other] = moved;
    }
}

/* By timebase's clock as it is now; the end of the run knows better, and corrects delays by it. */
static double ticks_per_ns(void)
{
    const timebase_clock *clock = timebase_clock_default();
    int64_t now_ns = timebase_mono_ns(clock);
    uint64_t second =
        timebase_ticks_at_mono(clock, now_ns + 1000000000) - timebase_ticks_at_mono(clock, now_ns);

    return (double)second / 1e9;
}

static void run_round(struct table *table, double rate)
{
    shuffle(table->order, table->count, &table->shuffled);
    for (size_t i = 0; i < table->count; i++) {
        struct cell *cell = table->order[i];
        int64_t before = cell->cpu_ns;
        trial_batch(cell, &table->watch, rate);
        nap(cell->cpu_ns - before);
    }
}

static void serve_rounds(struct table *table, size_t most, double rate)
{
    char line[16];

    for (size_t round = 0; round < most && fgets(line, sizeof line, stdin); round++) {
        run_round(table, rate);
        printf("round\n");
        fflush(stdout);
    }
}

/* All memory is had and all threads are made before real time is asked for: a lock of memory may
 * refuse more of it. */
static void open_all(struct table *table, int cpu, size_t rounds)
{
    table_add_stopwatch(table, rounds);
    table_add_group(table, &timebase_group, rounds);
    for (size_t i = 0; i < OTHERS; i++) {
        const char *reason = others[i]->open(cpu);
        if (reason)
            printf("without %s: %s\n", others[i]->title, reason);
        else
            table_add_group(table, others[i], rounds);
    }
}

/* What learns the machine, once the thread is on its CPU. */
static void calibrate(struct table *table, int cpu)
{
    const char *reason = timebase_group.open(cpu);
    int result = stopwatch_open(&table->watch);

    if (reason)
        die(reason);
    if (result < 0)
        die(timebase_strerror(result));
}

static unsigned long number(const char *text, unsigned long min, unsigned long max)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);

    if (errno || *end || end == text || text[0] == '-' || value < min || value > max) {
        fprintf(stderr, "driver: '%s' is not a number from %lu to %lu\n", text, min, max);
        exit(1);
    }
    return value;
}

int main(int argc, char **argv)
{
    static struct table table;

    if (argc != 4) {
        fprintf(stderr, "usage: driver CPU ROUNDS FILE\n");
        return 1;
    }
    int cpu = (int)number(argv[1], 0, 1023);
    size_t rounds = number(argv[2], 1, 1000);
    struct timebase_realtime realtime;
    struct timebase_realtime_request wish = {TIMEBASE_REALTIME_ALL, PRIORITY, cpu};

    pin_to_cpu(cpu);
    open_all(&table, cpu, rounds);
    timebase_realtime_acquire(&realtime, &wish);
    results_realtime(&realtime);
    calibrate(&table, cpu);
    struct instant begin = instant_now();
    assumed_ticks_per_ns = ticks_per_ns();
    serve_rounds(&table, rounds, assumed_ticks_per_ns);
    results_write(&table, assumed_ticks_per_ns, 1 / period_ns(begin, instant_now()), argv[3]);
    timebase_realtime_release(&realtime);
    return 0;
}
