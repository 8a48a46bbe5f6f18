/* SPDX-License-Identifier: MIT */
#include "release_log.h"

uint32_t timebase_release_log_take(struct timebase_release_log *log, struct timebase_release *out,
                                   uint32_t most)
{
    /* Acquire: pairs with the dispatcher's release store after an entry is whole. */
    uint32_t written = __atomic_load_n(&log->written, __ATOMIC_ACQUIRE);
    uint32_t read = __atomic_load_n(&log->read, __ATOMIC_RELAXED);
    uint32_t count = written - read < most ? written - read : most;
    for (uint32_t i = 0; i < count; i++)
        out[i] = log->entries[(read + i) & (log->capacity - 1)];
    /* Release: the dispatcher overwrites these entries only after they have been copied. */
    __atomic_store_n(&log->read, read + count, __ATOMIC_RELEASE);
    return count;
}

uint32_t timebase_release_log_lost(const struct timebase_release_log *log)
{
    return __atomic_load_n(&log->lost, __ATOMIC_RELAXED);
}
