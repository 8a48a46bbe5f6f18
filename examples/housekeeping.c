/* SPDX-License-Identifier: MIT */
/* housekeeping: a thread of its own keeps the clock right, so that no reader ever has to. */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include <timebase.h>

#define READS 10000000
#define INTERVAL_NS 100000000 /* at least once a second; as often as this for full accuracy */

static bool is_over;

static void *keep_house(void *context)
{
    const timebase_clock *clock = context;
    const struct timespec interval = {0, INTERVAL_NS};
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        int error = timebase_clock_maintain(clock);
        /* BUSY is no fault: the lines are fresh already. */
        if (error != TIMEBASE_OK && error != TIMEBASE_E_BUSY)
            fprintf(stderr, "maintain: %s\n", timebase_strerror(error));
        nanosleep(&interval, NULL);
    }
    return NULL;
}

int main(void)
{
    const timebase_clock *clock = timebase_clock_default();
    struct timebase_statistics statistics;
    pthread_t housekeeper;
    int64_t first_ns = timebase_mono_ns(clock), last_ns = first_ns;

    if (timebase_clock_set_maintenance(clock, TIMEBASE_MAINTENANCE_MANUAL) != TIMEBASE_OK ||
        pthread_create(&housekeeper, NULL, keep_house, (void *)clock) != 0) {
        fprintf(stderr, "cannot start\n");
        return 1;
    }
    for (int i = 0; i < READS && last_ns - first_ns < 5 * (int64_t)INTERVAL_NS; i++)
        last_ns = timebase_mono_ns(clock);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    pthread_join(housekeeper, NULL);

    int error = timebase_clock_statistics(clock, &statistics);
    if (error != TIMEBASE_OK) {
        fprintf(stderr, "statistics: %s\n", timebase_strerror(error));
        return 1;
    }
    printf("%" PRId64 " ms of reading: %" PRIu64 " publications, %" PRIu64 " of them by readers\n",
           (last_ns - first_ns) / 1000000, statistics.publications, statistics.rescues);
    return 0;
}
