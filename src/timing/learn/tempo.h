/* SPDX-License-Identifier: MIT */
/*
 * tempo: how long a cycle of the core is, in ticks of the counter, as the waiter's own code saw it
 * just now. The core clock steps by tens of percent within a millisecond, and another thread of the
 * core makes cycles longer for as long as it runs. Pure.
 *
 * An eighth of each difference is believed, and two ticks of it at most, because disturbances make
 * times longer by any amount. But if three of the last five agree, and are far off, the core clock
 * has changed, and they are believed at once.
 */
#ifndef LEARN_TEMPO_H
#define LEARN_TEMPO_H

enum { TEMPO_RING = 5 };

struct tempo {
    double cycle_ticks;      /* as believed */
    double ring[TEMPO_RING]; /* as the last ones saw it */
    unsigned count;
};

void tempo_init(struct tempo *tempo, double cycle_ticks);

/* So many cycles took so many ticks, which are known to +/- bound_ticks. */
void tempo_learn(struct tempo *tempo, double ticks, double cycles, double bound_ticks);

/*
 * Of those cycles some are a run of instructions, and some come beside it, the tail. A thread of the
 * same core makes the tail longer, with its readings of the counter, and leaves a run as it was. With
 * a tail that is believed too long, short runs end too early and long ones too late. So what is wrong
 * turns the two against each other, about a run of middle length.
 */
struct tempo_tail {
    double cycles;
    double first_cycles; /* as calibrated: it is half as long at least, at most twice */
};

/*
 * After a run of so many cycles: what was believed of all of them was wrong by so much. Runs are of any
 * length up to the longest, each as often as the others.
 */
void tempo_learn_tail(struct tempo *tempo, struct tempo_tail *tail, double wrong_ticks,
                      double run_cycles, double longest_cycles);

#endif
