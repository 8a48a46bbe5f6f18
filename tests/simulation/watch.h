/* SPDX-License-Identifier: MIT */
/*
 * watch: reads a world's clock over and over and remembers what an oracle would complain of:
 * time that went back, truth outside the bound, and how far off it was.
 */
#ifndef SIMULATION_WATCH_H
#define SIMULATION_WATCH_H

#include "coverage.h"
#include "world.h"

#define WATCH_READINGS_MAX 200000

struct watch {
    unsigned count;
    double errors_ns[WATCH_READINGS_MAX]; /* |clock - reference|, monotonic */
    int64_t last_mono_ns;
    unsigned backwards; /* readings of mono below an earlier one */
    unsigned outside;   /* CLOCK_REALTIME outside utc +/- maxerror, where that is promised */
    unsigned untrue;    /* true UTC outside utc +/- utc_maxerror, likewise */
    bool is_excused;    /* an assumption is broken just now: docs/bound.md says what follows */
    bool is_slewing;    /* likewise, but A4 alone: only who compares with the reference notices */
    double smallest_ns; /* of the signed errors */
    double largest_ns;
    double tightest_share;    /* largest |error| / bound seen: 1 is a bound just met */
    double tightest_true;     /* the same of true UTC */
    struct coverage coverage; /* of |clock - reference| by esterror, where a bound is promised */
};

/* A world of this seed, which is printed, and nothing seen of it yet. */
struct world watch_begin(struct watch *watch, uint64_t seed);

/* Read every step_ns for duration_ns. */
void watch_run(struct watch *watch, struct world *world, double duration_ns, double step_ns);

/* Read once. */
struct reading watch_read(struct watch *watch, struct world *world);

/* Forget the errors, keep what must never happen. */
void watch_reset_errors(struct watch *watch);

/* The share-th smallest |error|: 0.5 is the median. Sorts. */
double watch_percentile(struct watch *watch, double share);

/*
 * Are the bounds promised? That of CLOCK_REALTIME with any status but UNKNOWN and UNRELIABLE; that
 * of true UTC likewise, as long as the world's claims are true.
 */
bool watch_is_promised(const struct reading *reading);

/* Say how near the errors came to their bounds. */
void watch_print(const struct watch *watch, const char *what);

/* Fail the test, naming the seed, if time went back or a bound did not hold. */
void watch_expect_sound(const struct watch *watch, uint64_t seed);

#endif
