/* SPDX-License-Identifier: MIT */
/*
 * shares: follows two numbers by their sum, what something takes always and what each unit of it
 * takes. Pure. Of one count nobody can tell the two from each other; of many they can be told.
 *
 * What is wrong with a sum is shared out by the normalised least mean squares (Haykin, "Adaptive
 * Filter Theory"): together the shares make the sum right, and a unit's grows with how many there
 * were. In equal shares the two would run away from each other, whatever is learnt, as the mean of
 * 1/count is more than 1 by the mean of count.
 */
#ifndef LEARN_SHARES_H
#define LEARN_SHARES_H

/* The sum of `always` and `count` times `each` is to change by `more`; in equal shares at `equal`. */
static inline void shares_follow(double *always, double *each, double more, double count,
                                 double equal)
{
    double weight = count / equal;
    double share = more / (1 + weight * weight);
    *always += share;
    *each += share * weight / equal;
}

#endif
