/* SPDX-License-Identifier: MIT */
/*
 * Which counter this process reads, found out without touching it: the kernel is asked (PR_GET_TSC)
 * whether that would raise a signal, and an x86 whether it has RDTSCP. Strict seccomp switches the
 * TSC off too, and leaves no system call to read a clock by: such a process has no time.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Where counters are corrected by CPU, every reading goes this way: so it is compiled for speed. */
#define TIMEBASE_COLD __attribute__((noinline))

#include "by_cpu.h"
#include "readable.h"
#include <timebase/counter.h>
#include <timebase/error.h>
#include <timebase/page.h>

/* Values of `source`; a plain flag besides it serves the inline reads. */
enum source {
    SOURCE_UNKNOWN,
    SOURCE_PROCESSOR,
    SOURCE_OS,        /* no usable counter; the vDSO works */
    SOURCE_OS_SYSCALL, /* by choice, or the counter is off; so is, or may soon be, the vDSO */
    SOURCE_BY_CPU      /* the processor's, corrected by a table */
};

TIMEBASE_API int timebase_counter_readable;
static int source;
const struct by_cpu_table *counter_correction_in_force;

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)

/*
 * Would reading the counter raise SIGSEGV? EINVAL is the answer of a kernel without this switch
 * (arm64 before Linux 6.12). Any other refusal comes from a sandbox, and then nobody knows.
 */
static int counter_is_off(void)
{
    int mode = PR_TSC_ENABLE;
    if (prctl(PR_GET_TSC, &mode) != 0)
        return errno != EINVAL;
    return mode == PR_TSC_SIGSEGV;
}

#else

/* The counters of the other processors are part of the user-mode architecture. */
static int counter_is_off(void)
{
    return 0;
}

#endif

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

#define LEAF_EXTENDED 0x80000000u
#define LEAF_EXTENDED_FEATURES 0x80000001u

/* Each CPUID costs a guest microseconds, and 64-bit processors have this leaf for certain. */
static int has_extended_features(void)
{
#if defined(__x86_64__)
    return 1;
#else
    return __get_cpuid_max(LEAF_EXTENDED, NULL) >= LEAF_EXTENDED_FEATURES;
#endif
}

static int has_ordered_read(void)
{
    unsigned a, b, c, d = 0;
    if (has_extended_features())
        __cpuid(LEAF_EXTENDED_FEATURES, a, b, c, d);
    return d >> 27 & 1;
}

#else

static int has_ordered_read(void)
{
    return 1;
}

#endif

static enum source probe(void)
{
    if (counter_is_off())
        return SOURCE_OS_SYSCALL;
    return has_ordered_read() ? SOURCE_PROCESSOR : SOURCE_OS;
}

static void set_source(enum source found)
{
    __atomic_store_n(&source, found, __ATOMIC_RELAXED);
    __atomic_store_n(&timebase_counter_readable, found == SOURCE_PROCESSOR, __ATOMIC_RELEASE);
}

static void correct_by(const struct by_cpu_table *table)
{
    __atomic_store_n(&counter_correction_in_force, table, __ATOMIC_RELEASE);
}

/* Threads that probe at once find the same answer; the last store changes nothing. */
static enum source the_source(void)
{
    int saved_errno = errno;
    enum source now = (enum source)__atomic_load_n(&source, __ATOMIC_RELAXED);
    if (now == SOURCE_UNKNOWN) {
        now = probe();
        set_source(now);
    }
    errno = saved_errno;
    return now;
}

/* On 32-bit machines the call with 64-bit seconds, whatever the C library's time_t is. */
static int system_call(clockid_t id, struct timespec *out)
{
#if defined(SYS_clock_gettime64)
    struct {
        int64_t sec, nsec;
    } now;
    if (syscall(SYS_clock_gettime64, id, &now) == 0) {
        out->tv_sec = (time_t)now.sec;
        out->tv_nsec = (long)now.nsec;
        return 0;
    }
    if (errno != ENOSYS || sizeof out->tv_sec != sizeof(long))
        return -1;
#endif
#if defined(SYS_clock_gettime)
    return (int)syscall(SYS_clock_gettime, id, out);
#else
    return -1;
#endif
}

int counter_clock_gettime(clockid_t id, struct timespec *out)
{
    return the_source() == SOURCE_OS_SYSCALL ? system_call(id, out) : clock_gettime(id, out);
}

int64_t counter_clock_ns(clockid_t id)
{
    struct timespec now;
    if (counter_clock_gettime(id, &now) != 0)
        return INT64_MIN;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

TIMEBASE_API uint64_t timebase_ticks_os(void)
{
    return (uint64_t)counter_clock_ns(CLOCK_MONOTONIC_RAW);
}

TIMEBASE_API uint64_t timebase_ticks_probe(void)
{
    return the_source() == SOURCE_PROCESSOR ? timebase_arch_ticks()
                                            : timebase_ticks_ordered_probe();
}

TIMEBASE_API uint64_t timebase_ticks_ordered_probe(void)
{
    const struct by_cpu_table *table = counter_correction();
    if (TIMEBASE_LIKELY(table != NULL))
        return by_cpu_ticks(table, timebase_ticks_os);
    return the_source() == SOURCE_PROCESSOR ? timebase_arch_ticks_ordered() : timebase_ticks_os();
}

TIMEBASE_API int timebase_counter_id(void)
{
    switch (the_source()) {
    case SOURCE_PROCESSOR:
        return (int)TIMEBASE_ARCH_COUNTER;
    case SOURCE_BY_CPU:
        return TIMEBASE_COUNTER_BY_CPU;
    default:
        return TIMEBASE_COUNTER_OS;
    }
}

int counter_correct(const struct by_cpu_table *table)
{
    if (probe() != SOURCE_PROCESSOR || !by_cpu_is_possible())
        return TIMEBASE_E_UNSUPPORTED;
    correct_by(table);
    set_source(SOURCE_BY_CPU);
    return TIMEBASE_OK;
}

uint64_t counter_spread(void)
{
    const struct by_cpu_table *table = counter_correction();
    return table != NULL ? timebase_page_word(&table->spread_ticks) : 0;
}

TIMEBASE_API int timebase_counter_select(int id)
{
    if (id != TIMEBASE_COUNTER_OS && id != (int)TIMEBASE_ARCH_COUNTER)
        return TIMEBASE_E_UNSUPPORTED;
    enum source found = probe();
    correct_by(NULL);
    if (id == TIMEBASE_COUNTER_OS) {
        set_source(SOURCE_OS_SYSCALL); /* the counter, and the vDSO with it, may go any moment */
        return TIMEBASE_OK;
    }
    set_source(found);
    if (found == SOURCE_OS_SYSCALL)
        return TIMEBASE_E_PERMISSION;
    return found == SOURCE_PROCESSOR ? TIMEBASE_OK : TIMEBASE_E_UNSUPPORTED;
}
