/* SPDX-License-Identifier: MIT */
/* court: where two threads on two CPUs throw readings to each other. */
#ifndef SYNC_COURT_H
#define SYNC_COURT_H

#include "skew.h"

enum court_result {
    COURT_PLAYED,  /* the range is what was seen, perhaps nothing */
    COURT_REFUSED, /* a thread could not be started on `there` */
    COURT_FULL,    /* threads of earlier pairs still wait for their CPUs */
};

/* What was seen of a pair. */
struct court_score {
    struct skew_range range; /* the offset of `there` against `here` */
    uint64_t ticks;          /* by the counter `here`, when it began; 0: it did not */
};

/*
 * One pair, for so many rounds, and no longer than limit_ns and 2 ms. Threads that do not get their
 * CPU in that time are left behind, and end when they do.
 */
enum court_result court_play(int here, int there, uint32_t rounds, int64_t limit_ns,
                             struct court_score *score);

/* Likewise, with the readings of this process: corrected ones differ by 0. */
enum court_result court_compare(int here, int there, uint32_t rounds, int64_t limit_ns,
                                struct court_score *score);

#endif
