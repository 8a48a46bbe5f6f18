/* SPDX-License-Identifier: MIT */
/*
 * core_rate: cycles of the core in a nanosecond, as a chain of instructions between two readings of the
 * counter shows just now. Pure.
 *
 * A core's clock goes by steps of 100 MHz and more, 3 to 14 % of it within a millisecond, as the other
 * cores begin or end their work. On a core that nobody shares a chain always takes as many cycles: what
 * one took, if it is no hold-up, is the clock, and is believed at once. Where something else uses
 * the core one chain takes longer than the next, and a little of it is believed.
 */
#ifndef LEARN_CORE_RATE_H
#define LEARN_CORE_RATE_H

#include "in_code.h"
#include "within.h"

struct core_rate {
    double cycles_per_ns; /* as believed */
    double unsteady_ns;   /* chains were off by, lately, in the mean, two steps at most */
};

/* So many cycles were to take so long, and took so long, as is known to a step of the counter. */
struct core_chain {
    double cycles, expected_ns, taken_ns, step_ns;
    int is_quiet; /* nothing else says that something uses the core */
};

/*
 * Without a branch: one that is predicted wrongly would take as long as all this may. And with one
 * division alone, as that keeps the unit from the roots which hide all this.
 */
static inline void core_rate_follow(struct core_rate *rate, const struct core_chain *chain)
{
    const double mean = in_code(0.125), part = in_code(0.25), hold_up = in_code(0.2);
    double steps_ns = chain->step_ns + chain->step_ns; /* what the steps may make of one */
    double wrong_ns = chain->taken_ns - chain->expected_ns, size_ns = most_of(wrong_ns, 0 - wrong_ns);
    int is_steady = chain->is_quiet & (rate->unsteady_ns < chain->step_ns);
    int is_clock = is_steady & (size_ns > steps_ns) & (size_ns < hold_up * chain->expected_ns);
    double little_ns = no_farther(steps_ns, wrong_ns) * part;
    double believed_ns = little_ns + (wrong_ns - little_ns) * is_clock;
    rate->cycles_per_ns = chain->cycles / (chain->expected_ns + believed_ns);
    rate->unsteady_ns += (least_of(size_ns, steps_ns) - rate->unsteady_ns) * mean;
}

#endif
