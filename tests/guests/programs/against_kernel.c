/* SPDX-License-Identifier: MIT */
/*
 * A clock beside the kernel's own, read before and after it, on all CPUs at once.
 *
 *     against_kernel counter           what is known of the counter
 *     against_kernel SECONDS           the process' own clock
 *     against_kernel SECONDS PAGE      attached to the page of a daemon
 *
 * With SECONDS it prints "mono: 0 of 123456 outside, 0 went back", and the same of utc: outside is a reading whose
 * bound does not reach between the kernel's two; a reading went back if it is before one that
 * another thread, or this one, made before. Exits with 1 if there was one of either. "cost" is a
 * reading's beside the kernel's, as the C library calls it: the vDSO's, where there is one.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <timebase.h>

#include "affinity.h"

#define CPUS_MAX 8
#define SECOND_NS INT64_C(1000000000)

static const timebase_clock *clock_read;
static int64_t end_ns;

struct found {
    int cpu;
    uint64_t readings, mono_outside, utc_outside, most_error_ns;
};

static int64_t read_kernel(clockid_t id)
{
    struct timespec time;
    clock_gettime(id, &time);
    return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

/* ---- within the bound ------------------------------------------------------------------------ */

static int is_outside(int64_t before_ns, int64_t read_ns, int64_t after_ns, uint64_t error_ns)
{
    return read_ns + (int64_t)error_ns < before_ns || read_ns - (int64_t)error_ns > after_ns;
}

static void compare(struct found *found)
{
    struct timebase_instant now;
    int64_t before_ns = read_kernel(CLOCK_MONOTONIC);
    timebase_now(clock_read, &now);
    int64_t after_ns = read_kernel(CLOCK_MONOTONIC);
    found->mono_outside += is_outside(before_ns, now.mono_ns, after_ns, now.maxerror_ns);
    if (now.maxerror_ns > found->most_error_ns)
        found->most_error_ns = now.maxerror_ns;

    before_ns = read_kernel(CLOCK_REALTIME);
    timebase_now(clock_read, &now);
    after_ns = read_kernel(CLOCK_REALTIME);
    found->utc_outside += is_outside(before_ns, now.utc_ns, after_ns, now.maxerror_ns);
    found->readings++;
}

/* ---- never back ------------------------------------------------------------------------------ */

static struct {
    pthread_mutex_t lock;
    int64_t mono_ns, utc_ns;
    uint64_t mono_back, utc_back;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The lock hands the last reading over, to a thread on another CPU or to the same one. */
static void take_turn(void)
{
    pthread_mutex_lock(&last.lock);
    int64_t mono_ns = timebase_mono_ns(clock_read), utc_ns = timebase_utc_ns(clock_read);
    last.mono_back += mono_ns < last.mono_ns;
    last.utc_back += utc_ns < last.utc_ns;
    last.mono_ns = mono_ns;
    last.utc_ns = utc_ns;
    pthread_mutex_unlock(&last.lock);
}

static void *read_on(void *argument)
{
    struct found *found = argument;
    if (go_to(found->cpu) != 0) {
        perror("against_kernel: sched_setaffinity");
        exit(2);
    }
    while (read_kernel(CLOCK_MONOTONIC) < end_ns) {
        compare(found);
        take_turn();
    }
    return NULL;
}

static int read_on_all(int seconds)
{
    pthread_t threads[CPUS_MAX];
    struct found found[CPUS_MAX] = {{0}}, sum = {0};
    int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    cpus = cpus < CPUS_MAX ? cpus : CPUS_MAX;
    end_ns = read_kernel(CLOCK_MONOTONIC) + seconds * SECOND_NS;
    for (int i = 0; i < cpus; i++) {
        found[i].cpu = i;
        if (pthread_create(&threads[i], NULL, read_on, &found[i]) != 0)
            exit(2);
    }
    for (int i = 0; i < cpus; i++) {
        pthread_join(threads[i], NULL);
        sum.readings += found[i].readings;
        sum.mono_outside += found[i].mono_outside;
        sum.utc_outside += found[i].utc_outside;
        if (found[i].most_error_ns > sum.most_error_ns)
            sum.most_error_ns = found[i].most_error_ns;
    }
    printf("%d CPUs, bound %" PRIu64 " ns at most\n", cpus, sum.most_error_ns);
    printf("mono: %" PRIu64 " of %" PRIu64 " outside, %" PRIu64 " went back\n", sum.mono_outside,
           sum.readings, last.mono_back);
    printf("utc: %" PRIu64 " of %" PRIu64 " outside, %" PRIu64 " went back\n", sum.utc_outside,
           sum.readings, last.utc_back);
    return sum.readings == 0 || sum.mono_outside + sum.utc_outside > 0 ||
        last.mono_back + last.utc_back > 0;
}

/* ---- what a reading costs -------------------------------------------------------------------- */

enum { ROUNDS = 200, BATCH = 200, WAYS = 4 };

static void read_ours(void)
{
    timebase_mono_ns(clock_read);
}

static void read_ours_unordered(void)
{
    timebase_mono_ns_unordered(clock_read);
}

static void read_counter(void)
{
    timebase_ticks_ordered();
}

static void read_kernels(void)
{
    read_kernel(CLOCK_MONOTONIC);
}

static int by_size(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

static double median_ns(uint64_t *ticks, uint64_t hz)
{
    qsort(ticks, ROUNDS, sizeof(*ticks), by_size);
    return (double)ticks[ROUNDS / 2] * 1e9 / (double)hz / BATCH;
}

/* In turns, so that all see the same machine. */
static void show_costs(uint64_t hz)
{
    static void (*const ways[WAYS])(void) = {read_ours, read_ours_unordered, read_counter,
                                             read_kernels};
    static uint64_t ticks[WAYS][ROUNDS];
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++) {
            uint64_t begin = timebase_ticks_ordered();
            for (int i = 0; i < BATCH; i++)
                ways[way]();
            ticks[way][round] = timebase_ticks_ordered() - begin;
        }
    double ours = median_ns(ticks[0], hz), kernels = median_ns(ticks[3], hz);
    printf("cost: %.0f ns, unordered %.0f, the counter %.0f; the kernel's clock_gettime %.0f: "
           "%.2f times as long\n",
           ours, median_ns(ticks[1], hz), median_ns(ticks[2], hz), kernels, kernels / ours);
}

/* ---- which clock ----------------------------------------------------------------------------- */

static void show_counter(const struct timebase_counter *counter)
{
    const char *text;
    printf("counter: %s, %s, %" PRIu64 " Hz by %s, quality %d, kernel's %s\n",
           timebase_counter_name(counter->id), timebase_counter_class_name(counter->counter_class),
           counter->frequency_hz, timebase_frequency_source_name(counter->frequency_source),
           counter->quality, counter->kernel_clocksource);
    printf("claimed: %" PRIu64 " Hz by %s, granularity %" PRIu64 " ticks, a read %.0f ns\n",
           counter->claimed_hz, timebase_frequency_source_name(counter->claimed_source),
           counter->granularity_ticks, counter->cost_ps / 1000.0);
    for (unsigned n = 0; (text = timebase_counter_reason(counter, n)) != NULL; n++)
        printf("because: %s\n", text);
}

/* Waits for the daemon's first publication, which it makes soon after its start. */
static timebase_clock *attach(const char *page)
{
    timebase_clock *attached;
    int result = timebase_clock_attach(&attached, page);
    for (int tries = 0; result != 0 && tries < 600; tries++) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        result = timebase_clock_attach(&attached, page);
    }
    if (result != 0) {
        printf("not attached: %s\n", timebase_strerror(result));
        exit(1);
    }
    return attached;
}

static int show_attachment(const timebase_clock *attached)
{
    struct timebase_attachment now;
    if (timebase_clock_attachment(attached, &now) != 0)
        return 1;
    printf("attached: %s, error %d, %" PRIu64 " publications\n",
           now.state == TIMEBASE_ATTACHMENT_CURRENT ? "current" : "not current", now.error,
           (uint64_t)now.publications);
    return now.state != TIMEBASE_ATTACHMENT_CURRENT || now.error != 0 || now.publications < 2;
}

int main(int count, char **arguments)
{
    struct timebase_counter counter;
    timebase_clock *attached = NULL;
    const char *what = count > 1 ? arguments[1] : "";
    int seconds = atoi(what);
    timebase_counter_probe(&counter);
    if (strcmp(what, "counter") == 0) {
        show_counter(&counter);
        return 0;
    }
    if (count > 3 || seconds < 1) {
        fprintf(stderr, "usage: against_kernel counter|SECONDS [PAGE]\n");
        return 2;
    }
    clock_read = timebase_clock_default();
    if (count == 3)
        clock_read = attached = attach(arguments[2]);
    int result = read_on_all(seconds);
    show_costs(counter.frequency_hz);
    if (attached != NULL) {
        result |= show_attachment(attached);
        timebase_clock_detach(attached);
    }
    return result;
}
