/* SPDX-License-Identifier: MIT */
/*
 * world: an oscillator, a reference clock and a reader in virtual time, and the truth about them.
 *
 * Positions are doubles of nanoseconds and ticks: over the longest simulation (an hour) their
 * resolution is below a thousandth of either.
 */
#ifndef SIMULATION_WORLD_H
#define SIMULATION_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "discipline/cadence.h"
#include "discipline/discipline.h"

struct world {
    /* what is true */
    double now_ns; /* virtual time */
    double ticks;  /* the counter since counter_origin */
    uint64_t counter_origin;
    double counter_hz;
    double reference_ns;   /* the reference's monotonic time */
    double reference_rate; /* its pace: 1 + ppm / 10^6 */
    int64_t utc_offset_ns;
    int64_t suspended_ns;
    /* how a sample is taken */
    double bracket_ns;      /* duration of an undisturbed one */
    double disturbed_share; /* of samples that are interrupted on one side */
    double disturbance_ns;  /* for up to so long */
    double lost_share;      /* of samples that fail */
    double wander_ppm;      /* random walk of the oscillator per square root of a second */
    uint64_t seed;
    /* the clock under test */
    struct discipline discipline;
    struct cadence cadence;
    struct timebase_page page;
    int64_t sampled_ns;       /* reference time of the latest sample */
    unsigned events;          /* all seen so far */
    unsigned event_count[32]; /* by bit number */
};

/* One reading, and the truth at its tick. */
struct reading {
    struct timebase_instant instant;
    double mono_error_ns; /* clock - reference */
    double utc_error_ns;
};

/* A 2.6 GHz counter 3 ppm off, brackets of 40 ns, nothing wrong; now_ns = 0. */
struct world world_make(uint64_t seed);

/* Let time pass. */
void world_advance(struct world *world, double ns);

/* The machine sleeps: the counter goes on (or is reset), the reference stands still. */
void world_suspend(struct world *world, double ns);

/* The counter's value now. */
uint64_t world_ticks(const struct world *world);

/* Read the clock as the library's slow path does: sample and publish if the lines ask for it. */
struct reading world_read(struct world *world);

/* A number in [0, 1) from the world's seed. */
double world_random(struct world *world);

#endif
