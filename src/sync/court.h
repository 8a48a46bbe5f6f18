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

/*
 * One pair, for no longer than this and 2 ms: the offset of `there` against `here`. Threads that do
 * not get their CPU in that time are left behind, and end when they do.
 */
enum court_result court_play(int here, int there, int64_t limit_ns, struct skew_range *range);

#endif
