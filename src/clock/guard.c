/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* syscall() */
#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "owner.h"

/* ---- signals */

#define BIT(signal) (1ul << ((signal)-1))

/*
 * Uses the system call, because the C library's functions never block the signals by which the
 * library cancels threads. Leaves out what a fault raises: blocked, such a signal would end a
 * process whose handler could have mended the fault.
 */
static void block_signals(struct clock_hold *hold)
{
    unsigned long all[sizeof(hold->signals) / sizeof(unsigned long)];
    memset(all, 0xff, sizeof(all));
    all[0] &=
        ~(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGTRAP) | BIT(SIGSYS));
    hold->is_blocking =
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, all, hold->signals, sizeof(all)) == 0;
}

static void unblock_signals(const struct clock_hold *hold)
{
    if (hold->is_blocking)
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, hold->signals, NULL, sizeof(hold->signals));
}

/* ---- who is gone */

/* A handler on a signal stack is neither above nor below the code that it interrupts. */
static bool is_on_signal_stack(void)
{
    stack_t stack;
    return sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) != 0;
}

/*
 * Code that a handler interrupts lies above the handler on the stack. An owner that does not lie
 * above this frame has been left by a jump.
 */
static bool was_left(const struct clock_guard *lock, uintptr_t frame)
{
    uintptr_t owner = __atomic_load_n(&lock->frame, __ATOMIC_RELAXED);
    return owner != 0 && owner <= frame && !is_on_signal_stack();
}

static bool has_given_up(const struct clock_guard *lock, uint32_t owner, uint32_t me,
                         uintptr_t frame)
{
    return owner == me ? was_left(lock, frame) : owner_is_gone(owner, me);
}

/* ---- the lock */

static bool take(struct clock_guard *lock, uint32_t from, uint32_t me, uintptr_t frame,
                 struct clock_hold *hold)
{
    block_signals(hold);
    if (__atomic_compare_exchange_n(&lock->owner, &from, me, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        __atomic_store_n(&lock->frame, frame, __ATOMIC_RELAXED);
        return true;
    }
    unblock_signals(hold);
    return false;
}

enum guard_result guard_try(struct clock_guard *lock, struct clock_hold *hold)
{
    int saved_errno = errno;
    enum guard_result result = GUARD_BUSY;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    uint32_t me = owner_self();
    uint32_t owner = __atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE);
    if (owner == 0)
        result = take(lock, 0, me, frame, hold) ? GUARD_TAKEN : GUARD_BUSY;
    else if (has_given_up(lock, owner, me, frame))
        result = take(lock, owner, me, frame, hold) ? GUARD_RECOVERED : GUARD_BUSY;
    errno = saved_errno;
    return result;
}

void guard_release(struct clock_guard *lock, const struct clock_hold *hold)
{
    int saved_errno = errno;
    __atomic_store_n(&lock->frame, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
    unblock_signals(hold);
    errno = saved_errno;
}
