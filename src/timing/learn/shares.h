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

#include "in_code.h"

/* The sum of `always` and `count` times `each` is to change by `more`; in equal shares at `equal`. */
static inline void shares_follow(double *always, double *each, double more, double count,
                                 double equal)
{
    double weight = count / equal;
    double share = more / (1 + weight * weight);
    *always += share;
    *each += share * weight / equal;
}

/* 1/x of a normal x, to 2 percent, without a division. By Newton, from what its bits say. */
static inline double about_inverse(double x)
{
    const uint64_t about = 0x7FDE623822FC16E6;
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits = about - bits;
    double inverse;
    memcpy(&inverse, &bits, sizeof(inverse));
    return inverse * (in_code(2) - x * inverse);
}

/*
 * As shares_follow(), with 1/equal, and about as far: beside a chain of roots, which a division would
 * hold up.
 */
static inline void shares_follow_about_as_far(double *always, double *each, double more,
                                              double count, double per_equal)
{
    double weight = count * per_equal;
    double share = more * about_inverse(in_code(1) + weight * weight);
    *always += share;
    *each += share * weight * per_equal;
}

/* The counts that were seen: their mean, and the mean square of how far they were from it. */
struct shares {
    double middle, square;
};

/*
 * The same about the middle of what was seen. There the two have nothing to do with each other: how
 * far from it a count is says how much of what is wrong is the units'. So they are told apart in as
 * many steps as their sum is found in; by equal shares that takes many times as many. `more` is a
 * small part of what was wrong, and by so much the sum changes at the middle. Counts that hardly
 * differ, by less than `least`, say nothing of units; nor does one that is far from all before it.
 */
static inline void shares_follow_about(struct shares *seen, double *always, double *each,
                                       double more, double count, double least)
{
    const double part = in_code(1.0 / 64);
    if (seen->middle == 0)
        seen->middle = count;
    double from = count - seen->middle, square = from * from;
    double change = more * from / (seen->square + square + least * least);
    *each += change;
    *always += more - change * seen->middle;
    seen->middle += from * part;
    seen->square += (square - seen->square) * part;
}

#endif
