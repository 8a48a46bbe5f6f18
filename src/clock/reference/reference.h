/* SPDX-License-Identifier: MIT */
/*
 * reference: what a clock is compared with. A driver is three functions and a table.
 *
 * sample() must be fast (it runs in a reader's slow path), may be called by any thread but by one
 * at a time, and must not block, allocate or touch errno.
 */
#ifndef REFERENCE_REFERENCE_H
#define REFERENCE_REFERENCE_H

#include <stdint.h>

#include "clock/counter/probe.h"
#include "clock/discipline/sample.h"

/* A moment of the reference without ticks, for readers who cannot wait for lines. */
struct reference_moment {
    int64_t mono_ns;
    int64_t utc_offset_ns;
    uint64_t error_ns;   /* mono_ns is the time of the call within this */
    int64_t maxerror_ns; /* |reference - true UTC|, as it says of itself */
    int64_t suspended_ns;
    uint32_t flags; /* both as in struct discipline_sample */
};

struct reference {
    const char *name;
    /*
     * Fill *sample; TIMEBASE_E_REFERENCE if the reference does not answer. Then only its flags
     * count, and of these only COUNTER_DISTRUSTED.
     */
    int (*sample)(void *context, struct discipline_sample *sample);
    /* Fill *moment, likewise. */
    int (*moment)(void *context, struct reference_moment *moment);
    /* Give back what the driver holds. */
    void (*close)(void *context);
};

/* UTC - monotonic lies between the two; equal where it was seen exactly. */
struct reference_utc {
    int64_t least_ns;
    int64_t most_ns;
};

/* The kernel's clocks; context: struct reference_kernel, zeroed. */
struct reference_kernel {
    uint64_t step_ticks;   /* what back-to-back reads of the counter differ by; 0 not measured */
    uint64_t reference_step_ns; /* of CLOCK_MONOTONIC; 0 not measured */
    int counter_id;             /* whose ticks these are */
    int is_fine; /* 1 yes, -1 no, 0 not asked: the kernel counts in ns, not in ticks of its own */
    int64_t judged_ns; /* when that and reference_step_ns were found out; 0 never */
    struct reference_utc utc;
    int64_t told_utc_ns; /* of `utc` */
    int knows_utc;
    struct counter_clocksource clocksource;
    int64_t suspended_ns;  /* time asleep, the most that was seen */
    int knows_suspended;
    int64_t asked_ns;      /* when adjtimex was last asked, monotonic; 0 never */
    int64_t utc_offset_ns; /* then */
    int64_t maxerror_ns;
    uint64_t slew_most_ppb; /* its pace may change by no more until it is asked again; 0 not told */
    uint32_t flags;
    int is_synchronized;
};

extern const struct reference reference_kernel;

/* UTC - monotonic, as exactly as it can be seen. TIMEBASE_E_REFERENCE: cannot be read. */
int reference_utc(struct reference_utc *utc);

/* The same exactly. TIMEBASE_E_REFERENCE: cannot be read, or not exactly. */
int reference_utc_offset(int64_t *offset_ns);

/* In another time namespace less may have been slept: the next look at that is the first. */
void reference_restart(struct reference_kernel *kernel);

/* What adjtimex says: maxerror_ns, slew_most_ppb, flags, is_synchronized. */
void reference_ask_kernel(struct reference_kernel *kernel);

#endif
