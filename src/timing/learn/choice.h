/* SPDX-License-Identifier: MIT */
/*
 * choice: would the next wait be better exact, or by the polling loop? An exact wait relies on the
 * core for the time between its last poll and its event, some 40 ns, a poll for 10 ns only; with another
 * thread on the core, perhaps of another virtual machine, the shorter exposure can have the shorter
 * tail. So both are tried in rehearsals, and the quantiles of their errors are compared. Pure.
 *
 * A quantile moves by a step up for an error above it and by a small step down for one below
 * (margin.h has the arithmetic), so it follows what the last hundred rehearsals saw. The loop's
 * errors are those about its own bias, which plain waits compensate; the exact ones are raw.
 */
#ifndef LEARN_CHOICE_H
#define LEARN_CHOICE_H

enum choice_way { CHOICE_LOOP, CHOICE_EXACT, CHOICE_WAYS };

/* What is compared: 90 % and 95 %; where the tail is asked for 99 % too. */
enum { CHOICE_QUANTILES = 3 };

struct choice {
    double error_ticks[CHOICE_WAYS][CHOICE_QUANTILES];
};

/* Leaves only the loop, until a calibration adds the other way. */
void choice_forget(struct choice *choice);

/* From the errors of a calibration, sorted by size. */
void choice_init(struct choice *choice, enum choice_way way, const double *errors, int count);

/* Early or late counts the same. */
void choice_learn(struct choice *choice, enum choice_way way, double error_ticks);

/*
 * After a wait by the loop that showed nothing of exact waits: the errors known of them fade by
 * such a share, so that they are tried again.
 */
void choice_fade(struct choice *choice, double share);

/* Is the exact way clearly better than the loop? With a doubt below 1, is it at least not worse? */
int choice_is_exact(const struct choice *choice, int steady, double doubt);

/* Is it so much better as on a core that nobody shares? */
int choice_is_quiet(const struct choice *choice);

#endif
