/* SPDX-License-Identifier: MIT */
/*
 * vmclock: what the hypervisor says of the counter, in a page of memory (UAPI.13, "VMClock"; the
 * layout is that of Linux' vmclock-abi.h). Each field by its offset, little endian. A page of 1.0
 * ends before vm_generation_counter. docs/guide/sources.md says what becomes of each word.
 */
#ifndef SOURCES_VMCLOCK_H
#define SOURCES_VMCLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "claim.h"

enum {
    VMCLOCK_SIZE = 0x70,        /* of all that is read here */
    VMCLOCK_SIZE_MIN = 0x68,    /* of a page without vm_generation_counter */
    VMCLOCK_MAGIC = 0x4b4c4356, /* "VCLK" */
    VMCLOCK_VERSION = 1,
};

enum vmclock_time_type {
    VMCLOCK_UTC = 0,
    VMCLOCK_TAI = 1,
    VMCLOCK_MONOTONIC = 2,
    VMCLOCK_SMEARED = 3,
    VMCLOCK_MAYBE_SMEARED = 4,
};

enum vmclock_status {
    VMCLOCK_UNKNOWN = 0,
    VMCLOCK_INITIALIZING = 1,
    VMCLOCK_SYNCHRONIZED = 2,
    VMCLOCK_FREERUNNING = 3,
    VMCLOCK_UNRELIABLE = 4,
};

enum vmclock_flag {
    VMCLOCK_TAI_OFFSET_VALID = 1 << 0,
    VMCLOCK_DISRUPTION_SOON = 1 << 1,
    VMCLOCK_DISRUPTION_IMMINENT = 1 << 2,
    VMCLOCK_PERIOD_MAXERROR_VALID = 1 << 4,
    VMCLOCK_TIME_ESTERROR_VALID = 1 << 5,
    VMCLOCK_TIME_MAXERROR_VALID = 1 << 6,
    VMCLOCK_GENERATION_PRESENT = 1 << 8,
    VMCLOCK_NOTIFICATION_PRESENT = 1 << 9,
};

enum vmclock_leap { VMCLOCK_LEAP_INSERT = 1, VMCLOCK_LEAP_DELETE = 2, VMCLOCK_LEAP_NOW = 3 };

struct vmclock {
    uint8_t counter_id; /* as enum timebase_counter_id */
    uint8_t time_type;
    uint32_t seq; /* odd: an update is in progress */
    uint64_t disruption_marker;
    uint64_t flags;
    uint8_t status;
    int16_t tai_offset_sec; /* TAI - UTC */
    uint8_t leap;
    uint8_t period_shift;
    uint64_t counter_value;   /* at time_sec + time_frac / 2^64 */
    uint64_t period;          /* 2^-(64 + period_shift) s */
    uint64_t period_maxerror; /* likewise */
    uint64_t time_sec;
    uint64_t time_frac;
    uint64_t time_esterror_ns;
    uint64_t time_maxerror_ns;
    uint64_t generation; /* changes when the guest was restored; 0: not told */
};

/* Returns 0, or TIMEBASE_E_FORMAT: magic, size or version are not those that we know. */
int vmclock_parse(const unsigned char *bytes, size_t length, struct vmclock *out);

/* The counter's value when the system's clocks were read; wrong by no more than error_ticks. */
struct vmclock_moment {
    uint64_t ticks;
    uint64_t error_ticks;
    int64_t mono_ns;
    int64_t utc_offset_ns; /* UTC - monotonic */
    int counter_id;
};

/*
 * By how much the page's time at a tick differs from what the page before said of this tick: so
 * much has the hypervisor corrected its clock. UINT64_MAX: not comparable.
 */
uint64_t vmclock_step_ns(const struct vmclock *before, const struct vmclock *now, uint64_t ticks);

/*
 * The claim that follows. Returns 0, TIMEBASE_E_UNSUPPORTED: another counter, or TIMEBASE_E_FORMAT:
 * impossible numbers, and the reason. Where the page tells no UTC, error_ns is UINT64_MAX: then the
 * marker is all that it says.
 */
int vmclock_claim(const struct vmclock *clock, const struct vmclock_moment *moment,
                  struct claim *claim, const char **reason);

#endif
