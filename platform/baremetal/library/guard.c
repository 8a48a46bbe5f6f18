/* SPDX-License-Identifier: MIT */
/*
 * In place of src/clock/guard.c: no threads and no signals. Code that an interrupt started finds
 * the guard taken, and follows the present lines.
 */
#include "clock/guard.h"

enum { SOMEBODY = 1 };

enum guard_result guard_try(struct clock_guard *lock, struct clock_hold *hold)
{
    uint32_t nobody = 0;
    hold->is_blocking = false;
    return __atomic_compare_exchange_n(&lock->owner, &nobody, SOMEBODY, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED)
        ? GUARD_TAKEN
        : GUARD_BUSY;
}

void guard_release(struct clock_guard *lock, const struct clock_hold *hold)
{
    (void)hold;
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}
