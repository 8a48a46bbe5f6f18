/* SPDX-License-Identifier: MIT */
/*
 * world: an oscillator, a reference clock and a reader in virtual time, and the truth about them.
 * The clock under test is the servo that the library and the daemon run.
 *
 * Positions are long doubles of nanoseconds and ticks: where they have 64 bits, their resolution is
 * a hundredth of either after 1,000 days; where they have 53, a thousandth after an hour.
 */
#ifndef SIMULATION_WORLD_H
#define SIMULATION_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/servo/servo.h"

/* Quiet samples after which a fault is forgotten: docs/bound.md, Statuses. */
#define TOLD_QUIET 3

/* What the world has told the clock, and done to its counter: what any status can rest on. */
struct told {
    long double answered_ns; /* virtual time of the newest sample that did not fail */
    long double kept_ns;     /* of the last time that somebody kept the lines */
    bool is_faulty;          /* the counter has misbehaved since that sample */
    bool is_moved;           /* somebody has told of a move since the last attempt at a sample */
    unsigned quiet;          /* samples since the newest that showed a fault, or distrust */
    unsigned faulty;         /* attempts that showed one */
    unsigned synchronized;   /* samples in a row of a reference that follows UTC */
};

struct world {
    /* what is true */
    long double now_ns; /* virtual time */
    long double ticks;  /* the counter since counter_origin */
    uint64_t counter_origin;
    double counter_hz;
    long double reference_ns; /* the reference's monotonic time */
    double reference_rate;    /* its pace: 1 + ppm / 10^6 */
    int64_t utc_offset_ns;    /* CLOCK_REALTIME - monotonic */
    int64_t utc_epoch_ns;     /* true UTC when now_ns was 0, less leap seconds since */
    int64_t suspended_ns;
    uint64_t step_ticks;        /* the counter's step; 0: 1 */
    uint64_t spread_ticks;      /* CPUs are up to so much apart; each look is from any of them */
    uint64_t cpu_ticks;         /* of the CPU in use */
    uint64_t reference_step_ns; /* 0: 1 */
    /* what the reference says about UTC: right to within claim_error_ns of what it sees */
    double claim_error_ns;   /* its half-width */
    double claim_bias_ns;    /* its mistake; at most claim_error_ns in size for a true claim */
    uint32_t claim_ppb;      /* growth it tells; at least what its pace differs from UTC's */
    uint32_t slew_limit_ppm; /* its pace changes by no more, it tells; 0: it does not tell */
    uint32_t claim_flags;    /* TIMEBASE_LINE_LEAP_... */
    bool is_unsynchronized;
    /* how a sample is taken */
    double bracket_ns;      /* duration of an undisturbed one */
    double disturbed_share; /* of samples that are interrupted on one side */
    double disturbance_ns;  /* for up to so long */
    double lost_share;      /* of samples that fail */
    double wander_ppm;      /* random walk of the oscillator per square root of a second */
    uint64_t seed;
    bool is_manual;    /* world_maintain() is called in time; readers do not renew */
    bool is_abandoned; /* nobody keeps the lines */
    struct told told;
    /* the clock under test */
    struct servo servo;
    struct timebase_page page;
    unsigned events;          /* all seen so far */
    unsigned event_count[32]; /* by bit number */
};

/* One reading, and the truth at its tick. */
struct reading {
    struct timebase_instant instant;
    double mono_error_ns; /* clock - reference */
    double utc_error_ns;  /* clock - CLOCK_REALTIME */
    double true_error_ns; /* clock - true UTC */
};

/* A 2.6 GHz counter 3 ppm off, brackets of 40 ns, nothing wrong; now_ns = 0. */
struct world world_make(uint64_t seed);

/* CLOCK_REALTIME - true UTC. */
double world_realtime_error_ns(const struct world *world);

/* Let time pass. */
void world_advance(struct world *world, double ns);

/* The machine sleeps: the counter goes on (or is reset), the reference stands still. */
void world_suspend(struct world *world, double ns);

/* The counter goes ahead, or back, by so many ticks. */
void world_jump(struct world *world, int64_t ticks);

/* A witness says that the machine was moved: it goes on elsewhere as if nothing had happened. */
void world_move(struct world *world);

/* The counter's value now. */
uint64_t world_ticks(const struct world *world);

/* Read the clock as the library's slow path does: sample and publish if the lines ask for it. */
struct reading world_read(struct world *world);

/* As a housekeeping thread does: sample and publish. */
void world_maintain(struct world *world);

/* A number in [0, 1) from the world's seed. */
double world_random(struct world *world);

#endif
