/* SPDX-License-Identifier: MIT */
/*
 * Locks the process' memory: present and future pages. The lock belongs to the process, so the
 * requests of its threads are counted, and the last release unlocks. If something was locked before
 * the first request, nothing is unlocked: the kernel cannot unlock our part alone.
 *
 * Unlocking undoes every lock. So a request that comes while the last holder unlocks waits until
 * this is over, and then locks itself: each holder's lock is one that the kernel has granted, and
 * nobody unlocks it while it is held.
 *
 * A request during which another thread's lock comes and goes may take that one for a lock from
 * before: then memory stays locked until the process ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "clock/space.h"
#include "setting.h"

/* A request waits for somebody else's unlocking for a second: more is a thread that gets no CPU. */
enum { NAPS_MAX = 1000, NAP_NS = 1000000 };

/*
 * One word, changed by compare-and-swap: which memory this is, whether the last holder unlocks,
 * whether something was locked before, and how many hold the lock. A forked child inherits the word
 * but no lock: it sees the number of another memory and begins anew. A child of vfork has the
 * parent's memory, and its lock.
 */
enum { COUNT_BITS = 9, COUNT_MAX = (1 << COUNT_BITS) - 1, WAS_LOCKED = 1 << COUNT_BITS };
enum { UNLOCKING = WAS_LOCKED << 1, SPACE_SHIFT = COUNT_BITS + 2 };

static uint32_t holders;

static uint32_t this_space(void)
{
    return space_number() << SPACE_SHIFT;
}

static uint32_t count_of(uint32_t word)
{
    return word >> SPACE_SHIFT == this_space() >> SPACE_SHIFT ? word & COUNT_MAX : 0;
}

static bool is_unlocking(uint32_t word)
{
    return count_of(word) > 0 && (word & UNLOCKING);
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

/* The word when nobody is unlocking any more; or as it is after all naps. */
static uint32_t settled(void)
{
    static const struct timespec nap = {.tv_nsec = NAP_NS};
    uint32_t word = __atomic_load_n(&holders, __ATOMIC_ACQUIRE);
    for (int i = 0; i < NAPS_MAX && is_unlocking(word); i++) {
        nanosleep(&nap, NULL);
        word = __atomic_load_n(&holders, __ATOMIC_ACQUIRE);
    }
    return word;
}

static bool change(uint32_t *old, uint32_t next)
{
    return __atomic_compare_exchange_n(&holders, old, next, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

/* The first looks whether anything was locked before it. */
static uint32_t with_one_more(uint32_t word)
{
    return count_of(word) > 0 ? word + 1 : this_space() | (may_be_locked() ? WAS_LOCKED : 0) | 1;
}

static int hold(void)
{
    uint32_t old;
    do {
        old = settled();
        if (is_unlocking(old))
            return EBUSY;
        if (count_of(old) == COUNT_MAX)
            return EAGAIN;
    } while (!change(&old, with_one_more(old)));
    return 0;
}

/* The last one unlocks. Returns 0; or an errno, and the caller still holds the lock. */
static int let_go(void)
{
    uint32_t old = __atomic_load_n(&holders, __ATOMIC_RELAXED);
    bool is_last;
    do
        is_last = count_of(old) == 1 && !(old & WAS_LOCKED);
    while (!change(&old, is_last ? old | UNLOCKING : old - 1));
    if (!is_last)
        return 0;
    /* All others wait now, so the word stays as it is. */
    int error = munlockall() != 0 ? errno : 0;
    __atomic_store_n(&holders, error != 0 ? old : old - 1, __ATOMIC_RELEASE);
    return error;
}

static int acquire(struct timebase_realtime *rt, const struct timebase_realtime_request *request)
{
    (void)rt, (void)request;
    int error = hold();
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
