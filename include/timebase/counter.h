/* SPDX-License-Identifier: MIT */
/*
 * counter: reading the processor's counter, and what is known about it.
 *
 *     uint64_t start = timebase_ticks_ordered();
 *     ...
 *     uint64_t elapsed_ticks = timebase_ticks_ordered() - start;
 *
 *     struct timebase_counter counter;
 *     timebase_counter_probe(&counter);           // class, frequency, granularity, cost, quality
 *     for (unsigned reason = 0; (text = timebase_counter_reason(&counter, reason)); reason++)
 *         puts(text);
 *
 * A tick is one step of the counter; its length is in page.h's lines, not here. Ticks are
 * unsigned 64-bit and wrap: compare them by subtraction, (int64_t)(a - b) < 0.
 *
 * The counter of last resort. Where the processor's counter cannot be read (an unknown processor,
 * x86 without RDTSCP, or a process for which prctl(PR_SET_TSC) or a sandbox has switched it off)
 * the kernel's CLOCK_MONOTONIC_RAW takes its place, one tick a nanosecond. The first read finds
 * this out, and never raises a signal. A process that switches its own counter off later calls
 * timebase_counter_select(TIMEBASE_COUNTER_OS) and timebase_clock_restart() first; from then on it
 * needs the clock_gettime system call, which strict seccomp forbids.
 */
#ifndef TIMEBASE_COUNTER_H
#define TIMEBASE_COUNTER_H

#include <stdint.h>

#include <timebase/attributes.h>

TIMEBASE_EXTERN_BEGIN

/* Which counter. The first two and the last have the values of Linux' vmclock-abi.h. */
enum timebase_counter_id {
    TIMEBASE_COUNTER_ARM_VCNT = 0,
    TIMEBASE_COUNTER_X86_TSC = 1,
    TIMEBASE_COUNTER_POWER_TB = 16,
    TIMEBASE_COUNTER_RISCV_TIME = 17,
    TIMEBASE_COUNTER_S390_TOD = 18,
    TIMEBASE_COUNTER_OS = 32, /* CLOCK_MONOTONIC_RAW, 1 tick = 1 ns */
    TIMEBASE_COUNTER_BY_CPU = 33, /* the processor's, corrected by a table of CPUs: cpus.h */
    TIMEBASE_COUNTER_INVALID = 0xff,
};

/* CLOCK_MONOTONIC_RAW in nanoseconds: the counter of last resort, always readable. */
TIMEBASE_API uint64_t timebase_ticks_os(void);

#if defined(__x86_64__) || defined(__i386__)
#include <timebase/arch/x86.h>
#elif defined(__powerpc__)
#include <timebase/arch/power.h>
#elif defined(__aarch64__)
#include <timebase/arch/arm64.h>
#elif defined(__riscv) && __riscv_xlen == 64
#include <timebase/arch/riscv.h>
#elif defined(__s390x__)
#include <timebase/arch/s390x.h>
#else
#include <timebase/arch/fallback.h>
#endif

/* 1 once the processor's counter is known to be readable; else reads go out of line. */
extern TIMEBASE_API int timebase_counter_readable;

/* The out-of-line reads: probe on the first call, then read the counter that works. */
TIMEBASE_API TIMEBASE_COLD uint64_t timebase_ticks_probe(void);
TIMEBASE_API TIMEBASE_COLD uint64_t timebase_ticks_ordered_probe(void);

TIMEBASE_PART int timebase_counter_is_readable(void)
{
    return TIMEBASE_LIKELY(__atomic_load_n(&timebase_counter_readable, __ATOMIC_RELAXED) != 0);
}

/*
 * The counter, as cheaply as the processor allows. The read may move before earlier and after
 * later instructions, loads included: good for stamps within a thread, wrong for comparing with
 * what another core did.
 */
TIMEBASE_INLINE uint64_t timebase_ticks(void)
{
    return timebase_counter_is_readable() ? timebase_arch_ticks() : timebase_ticks_probe();
}

/*
 * The counter, read after all earlier loads have got their values. If one core publishes a value
 * that it read here (store release), and another core sees it (load acquire) and then reads the
 * counter here, the second value is not smaller, provided the counters of the cores are
 * synchronised. Earlier stores may still be on their way.
 */
TIMEBASE_INLINE uint64_t timebase_ticks_ordered(void)
{
    return timebase_counter_is_readable() ? timebase_arch_ticks_ordered()
                                          : timebase_ticks_ordered_probe();
}

/*
 * How the counter behaves when the processor changes its pace, after the classes of the
 * Chromium OS document "TSC resynchronization" (2011).
 */
enum timebase_counter_class {
    TIMEBASE_CLASS_UNKNOWN = 0,
    TIMEBASE_CLASS_NONE = 1,      /* changes with P-, C- and T-states */
    TIMEBASE_CLASS_CONSTANT = 2,  /* constant in P- and T-states, may stop in deep C-states */
    TIMEBASE_CLASS_INVARIANT = 3, /* the processor promises one rate in P-, C- and T-states */
    TIMEBASE_CLASS_NON_STOP = 4,  /* constant and invariant, and the kernel agrees */
};

/* Where a frequency came from. The OS clock is the judge of the others. */
enum timebase_frequency_source {
    TIMEBASE_FREQUENCY_MEASURED = 0,    /* counted against CLOCK_MONOTONIC_RAW */
    TIMEBASE_FREQUENCY_ARCHITECTED = 1, /* fixed by the architecture (s390x, OS clock) */
    TIMEBASE_FREQUENCY_REGISTER = 2,    /* CNTFRQ_EL0 */
    TIMEBASE_FREQUENCY_CPUID = 3,       /* CPUID leaf 0x15 or 0x16 */
    TIMEBASE_FREQUENCY_HYPERVISOR = 4,  /* CPUID leaf 0x40000010 */
    TIMEBASE_FREQUENCY_C_LIBRARY = 5,   /* __ppc_get_timebase_freq() */
    TIMEBASE_FREQUENCY_DEVICE_TREE = 6, /* timebase-frequency below /proc/device-tree/cpus */
    TIMEBASE_FREQUENCY_CPUINFO = 7,     /* the "timebase" line of /proc/cpuinfo */
};

/* Why the quality is what it is: bits of timebase_counter.reasons, worst first. */
enum timebase_counter_reason_bit {
    TIMEBASE_REASON_UNREADABLE = 1u << 0,       /* the OS clock serves, by need or choice */
    TIMEBASE_REASON_WENT_BACKWARDS = 1u << 1,   /* seen while probing */
    TIMEBASE_REASON_KERNEL_DISTRUSTS = 1u << 2, /* the kernel knows the counter and uses another */
    TIMEBASE_REASON_VARIABLE_RATE = 1u << 3,    /* class NONE */
    TIMEBASE_REASON_STOPS_IN_IDLE = 1u << 4,    /* class CONSTANT */
    TIMEBASE_REASON_FREQUENCY_LIES = 1u << 5,   /* a source differs from the OS clock */
    TIMEBASE_REASON_KERNEL_SILENT = 1u << 6,    /* no /sys or /proc: the kernel's view unknown */
    TIMEBASE_REASON_COARSE = 1u << 7,           /* granularity above 10 ns */
    TIMEBASE_REASON_EMULATED = 1u << 8,         /* a read costs more than 500 ns: it traps */
    TIMEBASE_REASON_CLASS_UNKNOWN = 1u << 9,    /* the processor does not say */
};

/* What is known about the counter. All counts and frequencies are of this process' counter. */
struct timebase_counter {
    int32_t id;                   /* enum timebase_counter_id */
    int32_t counter_class;        /* enum timebase_counter_class */
    uint64_t frequency_hz;        /* the measured or confirmed frequency; never 0 */
    uint64_t frequency_error_hz;  /* wrong by no more than this; UINT64_MAX: not known */
    int32_t frequency_source;     /* enum timebase_frequency_source of frequency_hz */
    int32_t claimed_source;       /* the source of claimed_hz; MEASURED if none claims */
    uint64_t claimed_hz;          /* what that source says, believed or not; 0 if none */
    uint64_t granularity_ticks;   /* the counter's step, at least 1; 24.5 is told as 25 */
    uint64_t smallest_step_ticks; /* smallest non-zero step seen; may be below granularity_ticks */
    uint32_t cost_ps;             /* timebase_ticks(), median of batches, picoseconds */
    uint32_t cost_ordered_ps;     /* timebase_ticks_ordered(), likewise */
    int32_t quality;              /* 0 unusable … 100 nothing to complain of */
    uint32_t reasons;             /* enum timebase_counter_reason_bit */
    int32_t constant;             /* 1 yes, 0 no, -1 unknown: kernel's or processor's word */
    int32_t non_stop;             /* likewise */
    int32_t hypervisor;           /* 1 if the processor says it is virtual, -1 unknown */
    int32_t cpus;                 /* CPUs this process may run on; 0 unknown */
    char hypervisor_name[16];     /* e.g. "KVMKVMKVM"; empty if none or unknown */
    char kernel_clocksource[32];  /* e.g. "tsc"; empty if /sys is not readable */
    char kernel_available[64];    /* e.g. "tsc kvm-clock" */
};

/*
 * Fill *counter. Takes about 5 ms, most of it measuring the frequency; call it once and keep the
 * result. Works without /sys and /proc, and then says less. Reads files: not for signal handlers.
 * Returns 0, or TIMEBASE_E_INVALID if counter is null.
 */
TIMEBASE_API int timebase_counter_probe(struct timebase_counter *counter);

/* The n-th reason in words, worst first; NULL after the last. Constant English text. */
TIMEBASE_API const char *timebase_counter_reason(const struct timebase_counter *counter,
                                                 unsigned n);

/* Names for people: "TSC", "invariant", "CPUID". Constant text, never NULL. */
TIMEBASE_API const char *timebase_counter_name(int id);
TIMEBASE_API const char *timebase_counter_class_name(int counter_class);
TIMEBASE_API const char *timebase_frequency_source_name(int source);

/* The counter that timebase_ticks() reads: enum timebase_counter_id. Probes if need be. */
TIMEBASE_API int timebase_counter_id(void);

/*
 * Choose the counter for this process: TIMEBASE_COUNTER_OS (read by system call from then on), or
 * the processor's own id to probe for it again. Ticks before and after are not comparable: call
 * timebase_clock_restart() next. Call it before other threads read. Returns 0,
 * TIMEBASE_E_UNSUPPORTED if this processor has no such counter, TIMEBASE_E_PERMISSION if it is
 * switched off.
 */
TIMEBASE_API int timebase_counter_select(int id);

TIMEBASE_EXTERN_END

#endif
