/* SPDX-License-Identifier: MIT */
/*
 * guard: the lock of a clock. It says which thread works on the clock. No thread waits for it, and
 * it is not lost with its owner.
 *
 * While a thread holds it, that thread's signals are blocked. So no handler runs in the middle of
 * the work and leaves it by siglongjmp, and no other thread can cancel it. The work under the lock
 * has no cancellation points (docs/decisions/0011-lock.md). An owner can still be gone:
 *
 *     the owner was in the memory that a fork copied     the number of the memory is another one
 *     the owner was killed, as a sandbox does            no such thread any more
 *     the owner left by siglongjmp from a handler of     this thread asks, from no deeper on the
 *       a fault (SIGSEGV, SIGSYS, ...: not blocked)      stack than where it took the lock
 *
 * A thread that still exists keeps the lock, however long it is held up. So two threads never
 * publish at the same time.
 */
#ifndef CLOCK_GUARD_H
#define CLOCK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct clock_guard {
    uint32_t owner;  /* owner.h; 0: nobody */
    uintptr_t frame; /* where on its stack the owner took it; 0: not said yet */
};

/* The owner keeps this meanwhile: the signals that it had blocked before, in the kernel's form. */
struct clock_hold {
    unsigned long signals[8 / sizeof(unsigned long)];
    bool is_blocking;
};

enum guard_result {
    GUARD_BUSY, /* somebody else has it, or the code that this handler interrupts */
    GUARD_TAKEN,
    GUARD_RECOVERED, /* its owner is gone: what it guards may be half-written */
};

/* Both are async-signal-safe and leave errno as it was. */
enum guard_result guard_try(struct clock_guard *lock, struct clock_hold *hold);
void guard_release(struct clock_guard *lock, const struct clock_hold *hold);

static inline bool guard_is_taken(const struct clock_guard *lock)
{
    return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != 0;
}

#endif
