/* SPDX-License-Identifier: MIT */
/*
 * claim: what somebody says about true UTC. The page follows the kernel's clocks; how far these
 * are from UTC is told by sources, each of which claims that
 *
 *     offset_ns - error_ns <= CLOCK_REALTIME - UTC <= offset_ns + error_ns
 *
 * A driver is three functions and a table. Its context begins with a `const char *`: why its last
 * call failed, for people; constant text, null after a success.
 */
#ifndef SOURCES_CLAIM_H
#define SOURCES_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a hypervisor says of a migration that it plans. */
enum claim_notice {
    CLAIM_NOTICE_NONE,
    CLAIM_NOTICE_SOON,     /* within a day or so */
    CLAIM_NOTICE_IMMINENT, /* within an hour or so */
};

struct claim {
    int64_t mono_ns;            /* CLOCK_MONOTONIC when it held */
    int64_t measured_ns;        /* CLOCK_MONOTONIC when the source last measured UTC, or earlier: it
                                 * does not know what has happened to this machine since */
    int64_t offset_ns;          /* CLOCK_REALTIME - UTC as the source sees it */
    uint64_t error_ns;          /* half-width then; all terms in it, sigmas inflated. UINT64_MAX:
                                 * nothing is known of UTC, only the disruption_marker may be told */
    uint32_t dispersion_ppb;    /* of error_ns with time, the source's own part of it; the
                                 * oscillator's allowance comes on top */
    uint64_t drifting_ns;       /* before mono_ns the oscillator was on its own for so long: its
                                 * allowance counts from there */
    uint32_t flags;             /* TIMEBASE_LINE_... but the status, and TAI offset: as in a line */
    bool is_synchronized;       /* the source says that it follows UTC; else an estimate */
    bool is_correcting;         /* the source is slewing CLOCK_REALTIME towards UTC: any part of
                                 * offset_ns may be gone since mono_ns, and by a newer measurement
                                 * it may be slewed either way */
    bool is_slewed_by_others;   /* the source has a clock of its own, and
                                 * CLOCK_REALTIME may have been slewed either way since mono_ns */
    uint64_t read_error_ns;     /* of the change of offset_ns since the answer before: what reading
                                 * adds, and by how much the source has moved its own time */
    uint32_t pace_ppb;          /* CLOCK_REALTIME leaves UTC no faster now: sources.c sets it */
    uint32_t slew_ppb;          /* and no faster than this until the next answer: sources.c, too */
    uint64_t disruption_marker; /* changes when the machine was disrupted; 0: not told */
    enum claim_notice notice;   /* of a disruption to come */
};

/* The ends of the claim at monotonic time mono_ns, saturated. It is aged by its own dispersion_ppb
 * and by drift_ppb, the oscillator's allowance. */
void claim_ends(const struct claim *claim, int64_t mono_ns, uint32_t drift_ppb, int64_t *low_ns,
                int64_t *high_ns);

struct source_driver {
    const char *name;    /* as in the daemon's configuration: "chrony" */
    size_t context_size; /* bytes, zeroed by the caller before open() */
    bool is_witness;     /* its clock goes on while this machine is stopped or moved */
    bool is_estimate;    /* its errors are not bounds even when synchronised: a term is missing */
    /* argument: what follows the colon in the configuration, or null. Returns 0 or an error. */
    int (*open)(void *context, const char *argument);
    /*
     * Takes no longer than a millisecond or two: only chrony waits, a millisecond at most, for
     * chronyd's answer. Returns 0 and the newest claim, perhaps one that it returned before;
     * TIMEBASE_E_BUSY: not yet, ask again; TIMEBASE_E_REFERENCE: no answer.
     */
    int (*claim)(void *context, struct claim *claim);
    /* Null: none. A descriptor that becomes readable when it is worth asking again; -1: not now. */
    int (*fd)(const void *context);
    void (*close)(void *context); /* after a failed open() too; then again open() if wanted */
};

/* Room for any source's context, aligned for it. */
#define SOURCE_CONTEXT_SIZE 1024
union source_context {
    const char *reason;
    uint64_t align;
    unsigned char bytes[SOURCE_CONTEXT_SIZE];
};

/* Why the last call with this context failed, without a full stop; never null. */
const char *source_reason(const void *context);

/* All there are, null at the end. */
extern const struct source_driver *const source_drivers[];

/* The one of this name, which need not end after length; null: there is none. */
const struct source_driver *source_driver_named(const char *name, size_t length);

#endif
