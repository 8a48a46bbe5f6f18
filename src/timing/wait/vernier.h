/* SPDX-License-Identifier: MIT */
/*
 * vernier: reads the counter more finely than its step.
 *
 * A counter that steps by s shows v for any instant in [v, v + s). Readings at known distances o[k]
 * from the first place the first one in the intersection of all [v[k] - o[k], v[k] - o[k] + s),
 * which n readings with well-spread phases make about s/n wide: as the two scales of a vernier
 * calliper do. If the intersection is empty the readings were not at those distances: something
 * came between.
 *
 * Pure: no clock is read here.
 */
#ifndef WAIT_VERNIER_H
#define WAIT_VERNIER_H

#include <stdint.h>

#include <timebase/wait.h>

#include "approach.h"

struct vernier {
    double step_ticks;
    double
        half_step_ticks; /* a reading of v stands for v to v + step - 1; their mean is v + this */
    double offsets[APPROACH_FINE]; /* ticks after the first reading */
    int readings;                  /* of a fine reading: 1 or APPROACH_FINE */
};

/*
 * When the first reading was taken, relative to base. Uses the readings from the first on as long
 * as they agree. Returns 0, or 1 if only the first was used.
 */
int vernier_intersect(const struct vernier *vernier, const uint32_t *readings, uint32_t base,
                      struct timebase_fine_reading *out);

/*
 * Learning the offsets. Reading k comes k * spacing + pad * (0 + 1 + 2 + ... + (k-1)) after the
 * first, as approach_x86_64.S pads them: two unknowns, fitted to sums of v[k] - v[0] over many
 * series at random phases.
 */
struct vernier_sums {
    double elapsed[APPROACH_FINE];
    int count;
};

void vernier_add(struct vernier_sums *sums, const uint32_t readings[APPROACH_FINE]);

/* Returns 0, or 1 if the sums make no sense (no series, or not growing). */
int vernier_fit(struct vernier *vernier, const struct vernier_sums *sums);

/*
 * Follow the core clock: if the first n readings have no common instant, change the offsets by an
 * eighth of what would give them one. Readings that have one change nothing. So it does not matter
 * that they all begin at one phase of the step, just after a poll saw it.
 */
void vernier_follow(struct vernier *vernier, const uint32_t *readings, int n);

#endif
