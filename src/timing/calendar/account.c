/* SPDX-License-Identifier: MIT */
#include "account.h"

#include <string.h>

#define FIRST_BUCKET_NS 0.125
#define BUCKETS_PER_OCTAVE 4

TIMEBASE_API double timebase_calendar_bucket_ns(int bucket)
{
    /* Powers of 2^(1/4). */
    static const double root[BUCKETS_PER_OCTAVE] = {1, 1.189207115002721, 1.4142135623730951,
                                                    1.681792830507429};
    if (bucket < 0)
        bucket = 0;
    if (bucket > TIMEBASE_CALENDAR_BUCKETS)
        bucket = TIMEBASE_CALENDAR_BUCKETS;
    return FIRST_BUCKET_NS * root[bucket % BUCKETS_PER_OCTAVE] *
        (double)(UINT64_C(1) << (bucket / BUCKETS_PER_OCTAVE));
}

/* Octave by octave, without a logarithm, which would need libm. */
static int bucket_of(double size_ns)
{
    int bucket = 0;
    while (bucket + BUCKETS_PER_OCTAVE < TIMEBASE_CALENDAR_BUCKETS &&
           size_ns >= timebase_calendar_bucket_ns(bucket + BUCKETS_PER_OCTAVE))
        bucket += BUCKETS_PER_OCTAVE;
    while (bucket + 1 < TIMEBASE_CALENDAR_BUCKETS &&
           size_ns >= timebase_calendar_bucket_ns(bucket + 1))
        bucket++;
    return bucket;
}

void account_begin(struct timebase_unit_result *results, uint32_t units, const int64_t *moved_ns)
{
    memset(results, 0, units * sizeof(*results));
    for (uint32_t i = 0; i < units; i++)
        results[i].moved_ns = moved_ns[i];
}

static void count_error(struct timebase_unit_result *result, double error_ns)
{
    if (result->released == 1 || error_ns < result->error_min_ns)
        result->error_min_ns = error_ns;
    if (result->released == 1 || error_ns > result->error_max_ns)
        result->error_max_ns = error_ns;
    result->error_sum_ns += error_ns;
    result->errors[bucket_of(error_ns < 0 ? -error_ns : error_ns)]++;
}

void account_run(struct timebase_unit_result *result, const struct timebase_release *release,
                 double error_ns, int64_t ran_ns)
{
    result->released++;
    result->late += (release->outcome & TIMEBASE_RELEASE_LATE) != 0;
    result->overruns += (release->outcome & TIMEBASE_RELEASE_OVERRUN) != 0;
    result->missed += (release->outcome & TIMEBASE_RELEASE_MISSED) != 0;
    result->timed_out += (release->outcome & TIMEBASE_RELEASE_TIMED_OUT) != 0;
    result->disturbed += (release->outcome & TIMEBASE_RELEASE_DISTURBED) != 0;
    if (ran_ns > result->longest_ns)
        result->longest_ns = ran_ns;
    result->total_ns += ran_ns;
    count_error(result, error_ns);
}

void account_skipped(struct timebase_unit_result *result, uint64_t count)
{
    result->skipped += count;
}

static void count_lost(struct timebase_release_log *log)
{
    uint32_t lost = __atomic_load_n(&log->lost, __ATOMIC_RELAXED);
    if (lost < UINT32_MAX)
        __atomic_store_n(&log->lost, lost + 1, __ATOMIC_RELAXED);
}

void account_log(struct timebase_release_log *log, const struct timebase_release *release)
{
    if (log == NULL)
        return;
    uint32_t written = __atomic_load_n(&log->written, __ATOMIC_RELAXED);
    /* Acquire: the reader's release store of `read` comes after it has copied the entries. */
    if (written - __atomic_load_n(&log->read, __ATOMIC_ACQUIRE) >= log->capacity) {
        count_lost(log);
        return;
    }
    log->entries[written & (log->capacity - 1)] = *release;
    /* Release: its partner is the reader's acquire load of `written`. */
    __atomic_store_n(&log->written, written + 1, __ATOMIC_RELEASE);
}
