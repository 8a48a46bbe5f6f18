/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* syscall() */
#include "owner.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "space.h"

#define THREAD_MASK (((uint32_t)1 << OWNER_THREAD_BITS) - 1)

uint32_t owner_self(void)
{
    return space_number() << OWNER_THREAD_BITS | ((uint32_t)syscall(SYS_gettid) & THREAD_MASK);
}

bool owner_is_gone(uint32_t owner, uint32_t self)
{
    if (!owner_shares_memory(owner, self))
        return true;
    return syscall(SYS_tkill, owner & THREAD_MASK, 0) != 0 && errno == ESRCH;
}
