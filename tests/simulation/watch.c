/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "watch.h"

struct reading watch_read(struct watch *watch, struct world *world)
{
    struct reading reading = world_read(world);
    double size = fabs(reading.mono_error_ns);
    double bound = (double)reading.instant.maxerror_ns;

    if (watch->last_mono_ns != 0 && reading.instant.mono_ns < watch->last_mono_ns)
        watch->backwards++;
    watch->last_mono_ns = reading.instant.mono_ns;
    if (fabs(reading.utc_error_ns) > bound)
        watch->outside++;
    if (size / bound > watch->tightest_share)
        watch->tightest_share = size / bound;
    if (watch->count == 0 || reading.mono_error_ns < watch->smallest_ns)
        watch->smallest_ns = reading.mono_error_ns;
    if (watch->count == 0 || reading.mono_error_ns > watch->largest_ns)
        watch->largest_ns = reading.mono_error_ns;
    if (watch->count < WATCH_READINGS_MAX)
        watch->errors_ns[watch->count++] = size;
    return reading;
}

void watch_run(struct watch *watch, struct world *world, double duration_ns, double step_ns)
{
    double end_ns = world->now_ns + duration_ns;
    while (world->now_ns < end_ns) {
        world_advance(world, step_ns);
        watch_read(watch, world);
    }
}

void watch_reset_errors(struct watch *watch)
{
    watch->count = 0;
    watch->tightest_share = 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double watch_percentile(struct watch *watch, double share)
{
    qsort(watch->errors_ns, watch->count, sizeof watch->errors_ns[0], compare);
    return watch->errors_ns[(unsigned)(share * (watch->count - 1))];
}

void watch_expect_sound(const struct watch *watch, uint64_t seed)
{
    if (watch->backwards > 0)
        fail_msg("seed %" PRIu64 ": monotonic time went back %u times", seed, watch->backwards);
    if (watch->outside > 0)
        fail_msg("seed %" PRIu64 ": the truth was outside the bound %u times", seed,
                 watch->outside);
}
