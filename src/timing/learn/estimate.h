/* SPDX-License-Identifier: MIT */
/*
 * estimate: a length that is measured again and again, and sometimes measured too long. Pure. It is
 * used for how many cycles the vernier's readings are apart, and how many ticks polls are. The code
 * alone does not determine this: a thread on the same core makes a reading take a fifth longer,
 * though a cycle is as long as before.
 *
 * Lengths near the estimate are averaged, over 256 at most. If four in a row are far off on the
 * same side (in_a_row.h), the estimate moves there: the neighbour has come or gone, the core clock
 * has changed, or the calibration was held up. It moves by no more than a factor of two at once.
 *
 * A hold-up only makes them longer. So what is shorter by half more than the counter's step explains is believed
 * at once, where that is asked for: a neighbour has gone.
 */
#ifndef LEARN_ESTIMATE_H
#define LEARN_ESTIMATE_H

#include "in_a_row.h"

struct estimate {
    double value;
    int count;    /* of what it is the mean: */
    int most;     /* ... at most */
    struct in_a_row far;
};

/* From a calibration. The mean of so many, later. */
void estimate_init(struct estimate *estimate, double value, int most);

/* `units` such lengths together were seen as `seen`. The counter's step explains a difference of up
 * to `far`. */
void estimate_learn(struct estimate *estimate, double seen, double units, double far);

/* Is it believed at once, as it is so much shorter? Then it has been learnt. */
int estimate_is_shorter(struct estimate *estimate, double seen, double units, double far);

/* It was seen to be wrong: what comes now counts for more, if it is near. */
static inline void estimate_doubt(struct estimate *estimate)
{
    enum { FEW = 8 };
    estimate->count = estimate->count < FEW ? estimate->count : FEW;
}

/* It was seen to be right enough, without a number. */
static inline void estimate_confirm(struct estimate *estimate)
{
    in_a_row_near(&estimate->far);
}

#endif
