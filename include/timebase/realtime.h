/* SPDX-License-Identifier: MIT */
/*
 * realtime: asks the kernel for what punctual threads need, says what it refused, gives all back.
 *
 *     struct timebase_realtime rt;
 *     struct timebase_realtime_request request = {
 *         .wanted = TIMEBASE_REALTIME_ALL, .priority = 50, .cpu = 1};
 *
 *     timebase_realtime_acquire(&rt, &request);
 *     for (int i = 0; i < TIMEBASE_REALTIME_COUNT; i++)
 *         if (rt.refused & 1u << i)
 *             fprintf(stderr, "no %s (%s): %s\n", timebase_realtime_name(1u << i),
 *                     strerror(rt.reason_errno[i]), timebase_realtime_advice(1u << i));
 *     ...                                // the punctual part
 *     timebase_realtime_release(&rt);    // in the same thread
 *
 * A refused setting stays as it was, and the others are still granted: a program without rights
 * runs, but less punctually.
 *
 *     setting      whose            notes
 *     AFFINITY     the thread's
 *     SCHEDULER    the thread's     SCHED_FIFO. A thread that polls without end is stopped for 50
 *                                   ms of each second (/proc/sys/kernel/sched_rt_runtime_us)
 *     MEMORY       the process'     counted: unlocked when the last of its threads releases. With
 *                                   a finite RLIMIT_MEMLOCK later allocations count against it
 *     TIMER_SLACK  the thread's     how late timers of ordinary threads may be; real-time threads
 *                                   have none in any case
 *     CPU_LATENCY  the machine's    while it is held idle CPUs do not sleep, but poll: all of them,
 *                                   at the price of their full power
 *
 * The kernel takes all of them back when the process ends, even by SIGKILL.
 *
 * Threads and processes that the thread makes meanwhile begin with the ordinary scheduler and nice
 * value 0; processes begin without the memory lock. Both inherit affinity and timer slack. A child
 * of fork() holds the idle latency open until it calls exec, exits, or releases its own copy of
 * *rt. This release restores the child's own settings to those before the request and leaves the
 * parent's alone. A child of vfork() must not release.
 *
 * Requests may nest, in one thread or in several: release them in the reverse order. errno is kept.
 * Do not call these functions in signal handlers.
 */
#ifndef TIMEBASE_REALTIME_H
#define TIMEBASE_REALTIME_H

#include <stdint.h>

#include <timebase/attributes.h>
#include <timebase/error.h>

TIMEBASE_EXTERN_BEGIN

enum timebase_realtime_bit {
    TIMEBASE_REALTIME_AFFINITY = 1,     /* this thread on one CPU */
    TIMEBASE_REALTIME_SCHEDULER = 2,    /* SCHED_FIFO */
    TIMEBASE_REALTIME_MEMORY = 4,       /* mlockall(MCL_CURRENT | MCL_FUTURE) */
    TIMEBASE_REALTIME_TIMER_SLACK = 8,  /* 1 ns */
    TIMEBASE_REALTIME_CPU_LATENCY = 16, /* /dev/cpu_dma_latency, 0 us: no deep idle states */
    TIMEBASE_REALTIME_LAST = 16,
    TIMEBASE_REALTIME_ALL = 31,
    TIMEBASE_REALTIME_COUNT = 5, /* of the bits: bit i is 1 << i */
};

struct timebase_realtime_request {
    uint32_t wanted;  /* enum timebase_realtime_bit */
    int32_t priority; /* of SCHED_FIFO, 1 to 99; looked at with SCHEDULER only */
    int32_t cpu;      /* for AFFINITY, 0 to 8191; -1: the one the thread is on */
};

struct timebase_realtime {
    uint32_t granted; /* and not yet given back */
    uint32_t refused;
    int32_t reason_errno[TIMEBASE_REALTIME_COUNT]; /* of the refused, in the order of the bits */
    int32_t cpu;                                   /* pinned to, or -1 */
    /* What was before, for release. */
    int32_t process;
    int32_t thread;
    int32_t latency_file; /* -1: none */
    int32_t policy;
    int32_t priority;
    int32_t nice;
    uint64_t timer_slack_ns; /* 0: the thread had none, being a real-time thread already */
    uint64_t affinity[128];  /* 8192 CPUs */
};

/*
 * Ask for each of request->wanted, for the calling thread. Returns
 *   0                    all was granted
 *   1                    something was refused: rt->refused, with the kernel's reasons. For
 *                        AFFINITY, ENODEV is a CPU that does not exist or is offline, EPERM one
 *                        that is outside of this process' cpuset; for SCHEDULER, EBUSY is a thread
 *                        under SCHED_DEADLINE, which comes before SCHED_FIFO and is left there; for
 *                        MEMORY, EBUSY is another thread that has been unlocking for a second
 *   TIMEBASE_E_INVALID   a null pointer, unknown bits, a priority or CPU out of range; nothing was
 *                        changed, and *rt is empty, fit for release
 * *rt is overwritten: release what it holds before you use it again. Locking the memory of a large
 * process may take a second.
 */
TIMEBASE_API int timebase_realtime_acquire(struct timebase_realtime *rt,
                                           const struct timebase_realtime_request *request);

/*
 * Give back what was granted, in the reverse order. Memory that was locked before stays locked; so
 * does all memory if /proc cannot be read to find out. May be called again, and for a structure of
 * zeros, with no effect. Returns
 *   0                      all is as before
 *   TIMEBASE_E_INVALID     a null pointer, or another thread of the process than the one that
 *                          acquired; nothing was changed
 *   TIMEBASE_E_PERMISSION  the kernel refuses to restore a setting: rt->granted has what is left.
 *                          SCHEDULER needs CAP_SYS_NICE: without it the policy is restored, but
 *                          not the thread's mark SCHED_RESET_ON_FORK, by which its children become
 *                          ordinary threads
 */
TIMEBASE_API int timebase_realtime_release(struct timebase_realtime *rt);

/* "SCHED_FIFO", "locked memory", of one bit: constant text, never NULL. */
TIMEBASE_API const char *timebase_realtime_name(unsigned bit);

/* What a person may do about a refusal, one sentence; constant, never NULL. */
TIMEBASE_API const char *timebase_realtime_advice(unsigned bit);

TIMEBASE_EXTERN_END

#endif
