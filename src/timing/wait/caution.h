/* SPDX-License-Identifier: MIT */
/*
 * caution: after something that went wrong, how many turns to leave it alone. Twice as many each
 * time, and fewer again the more often it goes well. Pure.
 *
 * Exact waits by code that has gone cold are such a thing: on a quiet core nothing is wrong with
 * them; beside a busy neighbour one in ten is late by some 0.1 us. As what goes wrong more often
 * than once in 44 times is left alone for ever longer, and the rest for CAUTION_LEAST turns, one
 * turn in 40 goes wrong at most.
 */
#ifndef WAIT_CAUTION_H
#define WAIT_CAUTION_H

enum { CAUTION_LEAST = 8, CAUTION_MOST = 512 };

struct caution {
    unsigned left;  /* turns to come, before it may be tried again */
    unsigned turns; /* after it went wrong last, less what went well since */
};

static inline int caution_allows(const struct caution *caution)
{
    return caution->left == 0;
}

/* It has been left alone. */
static inline void caution_pass(struct caution *caution)
{
    caution->left -= caution->left > 0;
}

static inline void caution_note(struct caution *caution, int went_well)
{
    enum { FORGETS = 64 };
    if (went_well) {
        caution->turns -= (caution->turns + FORGETS - 1) / FORGETS;
        return;
    }
    unsigned twice = 2 * caution->turns;
    twice = twice < CAUTION_LEAST ? CAUTION_LEAST : twice;
    caution->turns = twice < CAUTION_MOST ? twice : CAUTION_MOST;
    caution->left = caution->turns;
}

#endif
