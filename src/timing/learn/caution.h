/* SPDX-License-Identifier: MIT */
/*
 * caution: after something that went wrong, how many turns to leave it alone. Twice as many each
 * time, and fewer again the more often it goes well. Pure.
 *
 * Exact waits by code that has gone cold are such a thing: on a quiet core nothing is wrong with
 * them; beside a busy neighbour one in ten is late by some 0.1 us. As what goes wrong more often
 * than once in 44 times is left alone for ever longer, and the rest for 8 turns, one turn in 40 goes
 * wrong at most.
 */
#ifndef LEARN_CAUTION_H
#define LEARN_CAUTION_H

#include <stdint.h>

struct caution {
    uint16_t left;  /* turns to come, before it may be tried again */
    uint16_t turns; /* after it went wrong last, less what went well since */
};

static inline int caution_allows(const struct caution *caution)
{
    return caution->left == 0;
}

/* It has been left alone. */
static inline void caution_pass(struct caution *caution)
{
    caution->left = (uint16_t)(caution->left - (caution->left > 0));
}

/* Is it left alone this time? Then that is one of its turns. */
static inline int caution_takes_turn(struct caution *caution)
{
    int is_left_alone = !caution_allows(caution);
    caution_pass(caution);
    return is_left_alone;
}

/* It went well: one of so many turns is forgotten. */
static inline void caution_forgets(struct caution *caution, unsigned of)
{
    caution->turns = (uint16_t)(caution->turns - (caution->turns + of - 1) / of);
}

static inline void caution_went_well(struct caution *caution)
{
    enum { FORGETS = 64 };
    caution_forgets(caution, FORGETS);
}

/* It is left alone for `least` turns, at first, and for `most` of them in the end: up to 65535. */
static inline void caution_went_wrong(struct caution *caution, unsigned least, unsigned most)
{
    unsigned twice = 2U * caution->turns;
    twice = twice > least ? twice : least;
    caution->turns = (uint16_t)(twice < most ? twice : most);
    caution->left = caution->turns;
}

/* The same for one turn at first, and for 256 in the end. */
static inline void caution_doubles(struct caution *caution)
{
    enum { LEAST_TURNS = 1, MOST_TURNS = 256 };
    caution_went_wrong(caution, LEAST_TURNS, MOST_TURNS);
}

#endif
