/* SPDX-License-Identifier: MIT */
/*
 * Locks the process' memory: present and future pages. The lock belongs to the process, so the
 * requests of its threads are counted, and the last release unlocks. If something was locked before
 * the first request, nothing is unlocked: the kernel cannot unlock our part alone.
 *
 * A request that comes while the last holder unlocks may find memory still locked, and take this
 * for a lock from before: then memory stays locked until the process ends. Memory is never unlocked
 * for longer than a moment while somebody holds the lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock/space.h"
#include "setting.h"

/*
 * One word, changed by compare-and-swap: which memory this is, whether something was locked before,
 * and how many hold the lock. A forked child inherits the word but no lock: it sees the number of
 * another memory and begins anew. A child of vfork has the parent's memory, and its lock.
 */
enum { COUNT_BITS = 9, COUNT_MAX = (1 << COUNT_BITS) - 1, WAS_LOCKED = 1 << COUNT_BITS };
enum { SPACE_SHIFT = COUNT_BITS + 1 };

static uint32_t holders;

static uint32_t this_space(void)
{
    return space_number() << SPACE_SHIFT;
}

static uint32_t count_of(uint32_t word)
{
    return word >> SPACE_SHIFT == this_space() >> SPACE_SHIFT ? word & COUNT_MAX : 0;
}

/*
 * Reads up to the end of the text, or of the file. Byte by byte, since nothing may be allocated
 * and the line of groups before it has no limit; it is some 600 bytes usually.
 */
static bool skip_past(int file, const char *text)
{
    char c;
    const char *rest = text;
    while (*rest != '\0' && read(file, &c, 1) == 1)
        rest = c == *rest ? rest + 1 : (c == *text ? text + 1 : text);
    return *rest == '\0';
}

/* Is anything locked? VmLck of /proc/self/status is not 0 kB, or cannot be read. */
static bool may_be_locked(void)
{
    char c = ' ';
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return true;
    bool is_there = skip_past(file, "\nVmLck:");
    while (is_there && (c == ' ' || c == '\t'))
        is_there = read(file, &c, 1) == 1;
    close(file);
    return !is_there || c != '0';
}

static int hold(bool was_locked)
{
    uint32_t old = __atomic_load_n(&holders, __ATOMIC_RELAXED), next;
    do {
        if (count_of(old) == COUNT_MAX)
            return EAGAIN;
        next = count_of(old) > 0 ? old + 1 : (this_space() | (was_locked ? WAS_LOCKED : 0) | 1);
    } while (!__atomic_compare_exchange_n(&holders, &old, next, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED));
    return 0;
}

/* The last one unlocks. Returns 0; or an errno, and the caller still holds the lock. */
static int let_go(void)
{
    uint32_t old = __atomic_fetch_sub(&holders, 1, __ATOMIC_ACQ_REL);
    if (count_of(old) > 1 || (old & WAS_LOCKED))
        return 0;
    if (munlockall() != 0) {
        int error = errno;
        hold(false);
        return error;
    }
    /* Another thread may have made a request between the counting and the unlocking. */
    if (count_of(__atomic_load_n(&holders, __ATOMIC_ACQUIRE)) > 0)
        mlockall(MCL_CURRENT | MCL_FUTURE);
    return 0;
}

static int acquire(struct timebase_realtime *rt, const struct timebase_realtime_request *request)
{
    (void)rt, (void)request;
    int error = hold(may_be_locked());
    if (error == 0 && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        error = errno;
        let_go();
    }
    return error;
}

static int release(struct timebase_realtime *rt)
{
    (void)rt;
    return let_go();
}

const struct setting setting_memory = {
    .bit = TIMEBASE_REALTIME_MEMORY,
    .name = "locked memory",
    .advice = "raise the limit of locked memory above the size of the process (RLIMIT_MEMLOCK: "
              "memlock in /etc/security/limits.conf, LimitMEMLOCK= in a systemd unit, --ulimit "
              "memlock= for a container) or give the program CAP_IPC_LOCK",
    .acquire = acquire,
    .release = release,
    .disinherit = NULL, /* a child of fork() has no locks */
};
