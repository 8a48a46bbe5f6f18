/* SPDX-License-Identifier: MIT */
/*
 * cpus: do the counters of this machine's CPUs agree, and by how much do they differ?
 *
 *     timebase_cpus *cpus;
 *     struct timebase_cpu found[64];
 *     if (timebase_cpus_open(&cpus) == 0 && timebase_cpus_measure(cpus) == 0) {
 *         unsigned count = timebase_cpus_list(cpus, found, 64);
 *         ... found[i].offset_ticks +/- found[i].error_ticks ...
 *     }
 *     timebase_cpus_close(cpus);
 *
 * Two threads on two CPUs throw readings of their counters to each other. A thread that has
 * received a reading reads its own counter later than the sender did, whatever the counters say. So
 * the quickest throw of each direction limits the offset from one side, for certain; the middle
 * between the two limits is the estimate. Each CPU is compared with the one that it shares most
 * with, and the ranges add up along the tree, whose root is the reference CPU: the first one that
 * is online.
 *
 * The tree is measured by threads of its own, whatever the caller's affinity. One thread at a time
 * may use a handle. Reads files and allocates: not for signal handlers.
 */
#ifndef TIMEBASE_CPUS_H
#define TIMEBASE_CPUS_H

#include <stdint.h>

#include <timebase/attributes.h>

TIMEBASE_EXTERN_BEGIN

enum timebase_cpu_state {
    TIMEBASE_CPU_UNKNOWN = 0,      /* online, not measured yet: it was busy, or offline */
    TIMEBASE_CPU_MEASURED = 1,     /* or the reference CPU itself */
    TIMEBASE_CPU_HIDDEN = 2,       /* no thread of this process may run there: cpuset, sandbox */
    TIMEBASE_CPU_OFFLINE = 3,      /* nobody reads there now */
    TIMEBASE_CPU_INCONSISTENT = 4, /* no constant offset fits what was seen within milliseconds */
};

/* What is known of a CPU's counter. All but the first two: only if MEASURED. */
struct timebase_cpu {
    int32_t cpu;
    int32_t state;            /* enum timebase_cpu_state */
    int32_t against;          /* the CPU that it was compared with; itself: the reference CPU */
    uint32_t jumps;           /* how often it was set, or stood still, between measurements */
    int64_t offset_ticks;     /* counter there - the reference CPU's, estimated */
    uint64_t error_ticks;     /* the estimate is certainly wrong by no more */
    int64_t drift_ppb;        /* what the offset grows by; 0 before the second measurement */
    uint64_t drift_error_ppb; /* likewise, if it grows steadily; UINT64_MAX: not known */
    int64_t measured_ns;      /* when, by CLOCK_MONOTONIC */
};

typedef struct timebase_cpus timebase_cpus;

/* Nothing is measured yet. Returns 0, TIMEBASE_E_INVALID or TIMEBASE_E_RESOURCE. */
TIMEBASE_API int timebase_cpus_open(timebase_cpus **out);
TIMEBASE_API void timebase_cpus_close(timebase_cpus *cpus);

/*
 * Compare all CPUs that are online, once more: a millisecond a CPU, 10 where it is busy. From the
 * second time on the drift is known. Returns 0, TIMEBASE_E_INVALID, or TIMEBASE_E_UNSUPPORTED where
 * this process does not read the processor's counter.
 */
TIMEBASE_API int timebase_cpus_measure(timebase_cpus *cpus);

/* A positive result of timebase_cpus_correct(). */
#define TIMEBASE_CPUS_AGREE 1

/*
 * Where the counters differ, this process reads them corrected from now on, so that all CPUs show
 * the ticks of the reference CPU. A housekeeping thread makes the first call before other threads
 * read a clock, and then calls timebase_clock_restart(). It makes the next call after *again_ns at
 * the latest. Other threads may read a clock during these later calls: the new corrections begin
 * where the present ones end, with the values that these have there. A call that comes later than
 * half as long again may let them end: until it has returned, CPUs other than the reference CPU are
 * read from the kernel's clock, and each reading takes 2 us longer for each second that has passed.
 * *again_ns is half a second at most. A call before the CPUs are to be measured again looks whether one
 * of them was offline, and compares some corrected readings of each pair: 0.2 ms a CPU. A CPU whose
 * reading contradicts its order was set, or stood still (jumps); from then on it has no corrections.
 * The child of a fork has the corrections but not the thread: it makes the calls itself. The first
 * call takes 0.4 s, because it measures the CPUs several times and lets them rest in between.
 *
 * timebase_ticks(), stopwatch and private clocks then take the corrected ticks. A reading takes a
 * seventh longer (x86): it is no longer inline code. Exact waits use the plain loop. The
 * lines of a daemon's page are for other ticks, so timebase_clock_attach() refuses the page; where the
 * daemon corrects by CPU, to attach is enough, and better: then all processes see the same. On a
 * CPU of which nothing is known, or whose counter stops in idle, a reading takes the ticks from the
 * kernel's clock, in microseconds. timebase_counter_select() ends the correction.
 *
 * Returns 0: the corrections are in force until the process ends, and only this handle renews them.
 * TIMEBASE_CPUS_AGREE: the kernel keeps time by this counter, and no difference was seen: nothing
 * has changed. TIMEBASE_E_REFERENCE: the kernel keeps time by this counter, and the CPUs differ.
 * Then the kernel's own clock goes back, so there is nothing to keep time by (clocksource=hpet or
 * tsc=unstable on its command line help).
 * TIMEBASE_E_DISRUPTED: the reference CPU's own counter stood still or was set (a suspend), or it
 * went offline: nothing was changed, and readings go back until calls succeed again. If that stays,
 * the way out is to select TIMEBASE_COUNTER_OS and to restart the clocks.
 * TIMEBASE_E_PERMISSION: this thread may not run on the reference CPU, or not read
 * CLOCK_MONOTONIC_RAW. TIMEBASE_E_UNSUPPORTED: nothing tells on which CPU the counter is read, or
 * it is not read. x86 tells it itself. Other processors of 64 bits need Linux 4.18 and a C library
 * that registers restartable sequences, as glibc 2.35 does on Arm, Power and s390x; there the child
 * of a vfork must not read a clock. TIMEBASE_E_RESOURCE: no memory.
 */
TIMEBASE_API int timebase_cpus_correct(timebase_cpus *cpus, int64_t *again_ns);

/* How many CPUs there are, online or not; the first `size` of them in out[], by their numbers. */
TIMEBASE_API unsigned timebase_cpus_list(const timebase_cpus *cpus, struct timebase_cpu *out,
                                         unsigned size);

TIMEBASE_EXTERN_END

#endif
