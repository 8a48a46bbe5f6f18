/* SPDX-License-Identifier: MIT */
/*
 * happenings: a simulated world, tests/simulation/world.h, lived through by a list of what happens
 * in it. Property tests make the lists, and shrink them.
 */
#ifndef PROPERTY_HAPPENINGS_H
#define PROPERTY_HAPPENINGS_H

#include <stdint.h>

enum happening_kind {
    HAPPENING_PASS,         /* ns go by, with a reading after them */
    HAPPENING_READ,         /* readings, value of them a millisecond apart */
    HAPPENING_SLEW,         /* the reference's pace, ppm; the claim tells it */
    HAPPENING_DRIFT,        /* the oscillator's, ppm from its own */
    HAPPENING_STEP,         /* of CLOCK_REALTIME, ns */
    HAPPENING_SUSPEND,      /* asleep for so many ns */
    HAPPENING_LOSE,         /* share of samples that are lost */
    HAPPENING_BRACKET,      /* ns */
    HAPPENING_DISTURB,      /* share of samples that are interrupted */
    HAPPENING_BIAS,         /* of the claim, as a share of its width */
    HAPPENING_SYNCHRONIZED, /* 0: the reference says that it does not follow UTC */
    HAPPENING_JUMP,         /* of the counter, ticks; and a reading */
};

struct happening {
    int kind;
    double value;
};

struct verdict {
    unsigned readings;
    unsigned promised;  /* of them with a status that promises the bound */
    unsigned backwards; /* and what must be none of */
    unsigned outside;
    unsigned untrue;
    double tightest_share;
    double tightest_true;
};

void happenings_live(uint64_t seed, double counter_hz, double claim_error_ns,
                     const struct happening *list, int count, struct verdict *verdict);

#endif
