/* SPDX-License-Identifier: MIT */
/*
 * How far the counter of each CPU is from the first one's, as programs measure it.
 *
 *     cpu_offsets                          "cpu 1: 40 +/- 200 ticks, ...", a line for each CPU
 *     cpu_offsets CPU contains TICKS       and exit 1 unless the range of that CPU has TICKS in it
 *     cpu_offsets CPU excludes TICKS       unless it has not
 *     cpu_offsets as_moved TIMES           unless all ranges have what counter_mover says, so often
 *     cpu_offsets agreeing TIMES           how far estimates are from 0, where the counters agree,
 *                                          and how far the CPUs are from each other
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <timebase.h>

#include "sample.h"
#include "trip.h"

#define CPUS_MAX 64
#define ATTEMPTS 2000
#define MOVER "/proc/counter_mover"

static struct timebase_cpu cpus[CPUS_MAX];
static unsigned count;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A CPU that was busy keeps what was known of it before: it is not known anew. */
static int is_all_known(int64_t since_ns)
{
    for (unsigned i = 0; i < count; i++)
        if (cpus[i].state == TIMEBASE_CPU_UNKNOWN || cpus[i].state == TIMEBASE_CPU_INCONSISTENT ||
            (cpus[i].state == TIMEBASE_CPU_MEASURED && cpus[i].measured_ns < since_ns))
            return 0;
    return 1;
}

/* On a loaded machine two emulated CPUs seldom run at the same time: as often as it takes. */
static void measure(timebase_cpus *handle)
{
    int64_t begin_ns = now_ns();
    for (int i = 0; i < ATTEMPTS; i++) {
        timebase_cpus_measure(handle);
        count = timebase_cpus_list(handle, cpus, CPUS_MAX);
        if (is_all_known(begin_ns))
            return;
    }
}

static void show(const struct timebase_cpu *cpu)
{
    static const char *const states[] = {"unknown", "measured", "hidden", "offline",
                                         "no constant offset"};
    if (cpu->state != TIMEBASE_CPU_MEASURED)
        printf("cpu %d: %s\n", cpu->cpu, states[cpu->state]);
    else if (cpu->drift_error_ppb == UINT64_MAX)
        printf("cpu %d: %" PRId64 " +/- %" PRIu64 " ticks\n", cpu->cpu, cpu->offset_ticks,
               cpu->error_ticks);
    else
        printf("cpu %d: %" PRId64 " +/- %" PRIu64 " ticks, %" PRId64 " +/- %" PRIu64
               " ppb, %u jumps\n",
               cpu->cpu, cpu->offset_ticks, cpu->error_ticks, cpu->drift_ppb,
               cpu->drift_error_ppb, cpu->jumps);
}

static const struct timebase_cpu *find(int number)
{
    for (unsigned i = 0; i < count; i++)
        if (cpus[i].cpu == number && cpus[i].state == TIMEBASE_CPU_MEASURED)
            return &cpus[i];
    printf("cpu %d was not measured\n", number);
    exit(1);
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

static int judge(int number, const char *verb, int64_t ticks)
{
    const struct timebase_cpu *cpu = find(number);
    int contains = (uint64_t)distance(cpu->offset_ticks, ticks) <= cpu->error_ticks;
    return contains == (strcmp(verb, "contains") == 0) ? 0 : 1;
}

/* ---- against the truth --------------------------------------------------------------------- */

struct truth {
    unsigned count;
    int number[CPUS_MAX];
    int64_t offset[CPUS_MAX];
};

static struct truth ask_mover(void)
{
    struct truth truth = {0};
    FILE *file = fopen(MOVER, "r");
    char line[256];
    while (file != NULL && truth.count < CPUS_MAX && fgets(line, sizeof(line), file) != NULL)
        truth.count += sscanf(line, "cpu %d offset %" SCNd64, &truth.number[truth.count],
                              &truth.offset[truth.count]) == 2;
    if (truth.count < 2) {
        printf("%s says nothing\n", MOVER);
        exit(1);
    }
    fclose(file);
    return truth;
}

/* A CPU that drifts was somewhere between what it is before and after the measurement. */
static int is_as_moved(const struct truth *before, const struct truth *after, unsigned i,
                       struct sample *seen)
{
    const struct timebase_cpu *cpu = find(before->number[i]);
    int64_t from = before->offset[i] - before->offset[0], to = after->offset[i] - after->offset[0];
    int64_t least = from < to ? from : to, most = from < to ? to : from;
    int64_t nearest = cpu->offset_ticks < least ? least
        : cpu->offset_ticks > most              ? most
                                                : cpu->offset_ticks;
    sample_note(seen, (uint64_t)distance(cpu->offset_ticks, nearest), cpu->error_ticks);
    if (seen->off[seen->count - 1] <= cpu->error_ticks)
        return 1;
    printf("cpu %d: %" PRId64 " +/- %" PRIu64 ", but it was moved by %" PRId64 " to %" PRId64 "\n",
           cpu->cpu, cpu->offset_ticks, cpu->error_ticks, least, most);
    return 0;
}

static int compare(timebase_cpus *handle, unsigned times)
{
    int wrong = 0;
    struct sample seen = sample_of(times * CPUS_MAX);
    for (unsigned time = 0; time < times; time++) {
        struct truth before = ask_mover();
        measure(handle);
        struct truth after = ask_mover();
        for (unsigned i = 1; i < before.count; i++)
            wrong += !is_as_moved(&before, &after, i, &seen);
    }
    printf("%u measurements, %d ranges wrong\n", times, wrong);
    sample_show(&seen);
    return wrong > 0;
}

/* ---- where they agree ---------------------------------------------------------------------- */

/* Of the last CPU, and as a newcomer: what others have found before does not help. */
static struct timebase_cpu measure_as_newcomer(void)
{
    timebase_cpus *handle;
    if (timebase_cpus_open(&handle) != 0)
        exit(2);
    measure(handle);
    timebase_cpus_close(handle);
    return *find(cpus[count - 1].cpu);
}

/* A host moves its guests' CPUs, nearer to each other and further away. */
static int show_estimates(unsigned times)
{
    struct sample seen = sample_of(times);
    uint64_t *trips = sample_room(times);
    for (unsigned time = 0; time < times; time++) {
        struct timebase_cpu last = measure_as_newcomer();
        sample_note(&seen, (uint64_t)distance(last.offset_ticks, 0), last.error_ticks);
        trips[time] = trip_ticks(last.against, last.cpu);
    }
    sample_show(&seen);
    sample_show_quantiles("a cache line there and back", trips, times);
    return 0;
}

int main(int arguments_count, char **arguments)
{
    timebase_cpus *handle;
    int result = 0;
    if (arguments_count == 2 || arguments_count > 4 || timebase_cpus_open(&handle) != 0) {
        fprintf(stderr,
                "usage: cpu_offsets [CPU contains|excludes TICKS | as_moved TIMES | "
                "agreeing TIMES]\n");
        return 2;
    }
    if (arguments_count == 3 && strcmp(arguments[1], "agreeing") == 0)
        return show_estimates((unsigned)atoi(arguments[2]));
    if (arguments_count == 3)
        result = compare(handle, (unsigned)atoi(arguments[2]));
    else
        measure(handle);
    for (unsigned i = 0; i < count; i++)
        show(&cpus[i]);
    if (arguments_count == 4)
        result = judge(atoi(arguments[1]), arguments[2], strtoll(arguments[3], NULL, 10));
    timebase_cpus_close(handle);
    return result;
}
