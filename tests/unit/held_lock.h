/* SPDX-License-Identifier: MIT */
/* held_lock: a clock that another thread is at work on, and does not get on with it. */
#ifndef TEST_HELD_LOCK_H
#define TEST_HELD_LOCK_H

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock/cell.h"
#include "clock/owner.h"
#include "clock/space.h"

struct held_lock {
    struct clock_cell *cell;
    pthread_t thread;
    int is_held;
    int is_enough;
};

static inline void *held_lock_hold(void *argument)
{
    struct held_lock *held = (struct held_lock *)argument;
    struct clock_hold hold;
    while (!cell_try_lock(held->cell, &hold))
        timebase_arch_relax();
    __atomic_store_n(&held->is_held, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&held->is_enough, __ATOMIC_ACQUIRE))
        usleep(100);
    cell_unlock(held->cell, &hold);
    return NULL;
}

static inline void held_lock_begin(struct held_lock *held, struct clock_cell *cell)
{
    const struct held_lock fresh = {.cell = cell};
    *held = fresh;
    if (pthread_create(&held->thread, NULL, held_lock_hold, held) != 0)
        abort();
    while (!__atomic_load_n(&held->is_held, __ATOMIC_ACQUIRE))
        usleep(100);
}

static inline void held_lock_end(struct held_lock *held)
{
    __atomic_store_n(&held->is_enough, 1, __ATOMIC_RELEASE);
    pthread_join(held->thread, NULL);
}

/* As somebody leaves it who was in the memory that this one is a copy of. */
static inline void leave_locked(struct clock_cell *cell)
{
    uint32_t another = space_number() % SPACE_NUMBERS + 1;
    __atomic_store_n(&cell->lock.owner, another << OWNER_THREAD_BITS | 1, __ATOMIC_RELAXED);
}

#endif
