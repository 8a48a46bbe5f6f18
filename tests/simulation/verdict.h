/* SPDX-License-Identifier: MIT */
/*
 * verdict: which statuses docs/bound.md allows at a reading, by what the world has told the clock
 * and done to its counter. The clock under test is not asked.
 */
#ifndef SIMULATION_VERDICT_H
#define SIMULATION_VERDICT_H

#include "world.h"

struct verdict {
    unsigned last;         /* status that was allowed */
    unsigned faulty;       /* samples of the counter at fault, by then */
    bool is_due;           /* undisturbed for so long that it must be SYNCHRONIZED */
    unsigned count[5];     /* readings, by status */
    unsigned wrong;        /* of them, with a status that is not allowed */
    char first_wrong[160]; /* the first of these */
};

/* A bit for each status that is allowed now. */
unsigned verdict_allowed(const struct verdict *verdict, const struct world *world);

/* Judge a reading that was made now. */
void verdict_judge(struct verdict *verdict, const struct world *world,
                   const struct reading *reading);

/* Fail the test, naming the seed, if a status was not allowed. */
void verdict_expect_sound(const struct verdict *verdict, uint64_t seed);

#endif
