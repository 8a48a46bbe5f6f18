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

struct world watch_begin(struct watch *watch, uint64_t seed)
{
    static const struct watch nothing;
    *watch = nothing;
    print_message("seed %" PRIu64 "\n", seed);
    return world_make(seed);
}

bool watch_is_promised(const struct reading *reading)
{
    uint32_t status = reading->instant.flags & TIMEBASE_LINE_STATUS_MASK;
    return status != TIMEBASE_STATUS_UNKNOWN && status != TIMEBASE_STATUS_UNRELIABLE;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* CPUs apart: a reading on another one may be less by as much, in the reference's time. */
static int64_t apart_ns(const struct world *world)
{
    double fastest = world->reference_rate * 1.01;
    return (int64_t)((double)world->spread_ticks / world->counter_hz * 1e9 * fastest) + 2;
}

static void hold_against_truth(struct watch *watch, const struct reading *reading)
{
    double bound = (double)reading->instant.maxerror_ns;
    double true_bound = (double)reading->instant.utc_maxerror_ns;
    if (!watch_is_promised(reading) || watch->is_excused)
        return;
    coverage_add(&watch->coverage, reading->utc_error_ns, (double)reading->instant.esterror_ns);
    watch->untrue += fabs(reading->true_error_ns) > true_bound;
    watch->tightest_true = larger(watch->tightest_true, fabs(reading->true_error_ns) / true_bound);
    if (watch->is_slewing)
        return;
    watch->outside += fabs(reading->utc_error_ns) > bound;
    watch->tightest_share = larger(watch->tightest_share, fabs(reading->utc_error_ns) / bound);
}

struct reading watch_read(struct watch *watch, struct world *world)
{
    struct reading reading = world_read(world);
    if (world->page.seq == 0)
        return reading;
    double size = fabs(reading.mono_error_ns);
    int64_t allowed_ns = world->spread_ticks > 0 ? apart_ns(world) : 0;

    if (watch->last_mono_ns != 0 && reading.instant.mono_ns < watch->last_mono_ns - allowed_ns)
        watch->backwards++;
    watch->last_mono_ns = reading.instant.mono_ns;
    hold_against_truth(watch, &reading);
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
    long double end_ns = world->now_ns + duration_ns;
    while (world->now_ns < end_ns) {
        world_advance(world, step_ns);
        watch_read(watch, world);
    }
}

void watch_reset_errors(struct watch *watch)
{
    watch->count = 0;
    watch->tightest_share = 0;
    watch->tightest_true = 0;
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

void watch_print(const struct watch *watch, const char *what)
{
    print_message("%s: the error came to %.2f of the bound, that of UTC to %.2f\n", what,
                  watch->tightest_share, watch->tightest_true);
}

void watch_expect_sound(const struct watch *watch, uint64_t seed)
{
    if (watch->backwards > 0)
        fail_msg("seed %" PRIu64 ": monotonic time went back %u times", seed, watch->backwards);
    if (watch->outside > 0)
        fail_msg("seed %" PRIu64 ": the truth was outside the bound %u times", seed,
                 watch->outside);
    if (watch->untrue > 0)
        fail_msg("seed %" PRIu64 ": true UTC was outside the bound %u times", seed, watch->untrue);
}
