/* SPDX-License-Identifier: MIT */
/* calendar: two units of work every millisecond, each at its time, for a fifth of a second. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include <timebase.h>

#define UNITS 2
#define US 1000
#define MS 1000000

static int stop;
static volatile uint64_t samples, sent;

static void interrupt(int number)
{
    (void)number;
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
}

static void sample(void *argument)
{
    (void)argument;
    samples++;
}

static void send(void *argument)
{
    (void)argument;
    sent += samples;
}

static const struct timebase_unit units[UNITS] = {
    {.name = "sample",
     .action = sample,
     .period_ns = MS,
     .duration_ns = 20 * US,
     .flags = TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_PREPARE},
    {.name = "send",
     .action = send,
     .ready_ns = 500 * US,
     .period_ns = MS,
     .duration_ns = 50 * US,
     .deadline_ns = 200 * US,
     .timeout_ns = 100 * US,
     .flags = TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_PREPARE},
};

/* The error that so much of all releases stayed below. */
static double quantile_ns(const struct timebase_unit_result *result, double share)
{
    uint64_t counted = 0;
    for (int bucket = 0; bucket < TIMEBASE_CALENDAR_BUCKETS; bucket++) {
        counted += result->errors[bucket];
        if ((double)counted >= share * (double)result->released)
            return timebase_calendar_bucket_ns(bucket + 1);
    }
    return timebase_calendar_bucket_ns(TIMEBASE_CALENDAR_BUCKETS);
}

static void print(const char *name, const struct timebase_unit_result *result)
{
    printf("%-8s %4" PRIu64 " run, %" PRIu64 " skipped, %" PRIu64 " missed; half of them within "
           "%.1f ns, 9 of 10 within %.1f ns of their time\n",
           name, result->released, result->skipped, result->missed, quantile_ns(result, 0.5),
           quantile_ns(result, 0.9));
}

int main(void)
{
    static struct timebase_waiter waiter;
    struct timebase_calendar_problem problems[8];
    struct timebase_unit_result results[UNITS];
    struct timebase_calendar calendar = {
        .units = units, .unit_count = UNITS, .length_ns = 200 * MS, .stop = &stop};

    const struct timebase_realtime_request wish = {TIMEBASE_REALTIME_ALL, 50, -1};
    struct timebase_realtime rights;

    signal(SIGINT, interrupt);
    if (timebase_realtime_acquire(&rights, &wish) != 0)
        puts("Not all rights were granted, so it will be less punctual: see timebase doctor.");
    timebase_waiter_init(&waiter, timebase_clock_default()); /* on the CPU that it is now kept on */

    int count = timebase_calendar_admit(&calendar, &waiter, problems, 8);
    for (int i = 0; i < count && i < 8; i++)
        printf("%s: %s\n", problems[i].warning ? "warning" : "fault", problems[i].text);

    int error = timebase_calendar_run(&calendar, &waiter, results);
    timebase_realtime_release(&rights);
    if (error != 0) {
        fprintf(stderr, "calendar: %s\n", error > 0 ? "not admitted" : timebase_strerror(error));
        return 1;
    }
    for (int i = 0; i < UNITS; i++)
        print(units[i].name, &results[i]);
    return 0;
}
