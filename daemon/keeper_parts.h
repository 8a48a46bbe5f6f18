/* SPDX-License-Identifier: MIT */
/* keeper_parts: what a step of the keeper is put together from. Not for others. */
#ifndef DAEMON_KEEPER_PARTS_H
#define DAEMON_KEEPER_PARTS_H

#include "keeper.h"

/* The counter, as the keeper sees it. */
static inline uint64_t keeper_ticks(const struct keeper *keeper)
{
    return keeper->outside.ticks(keeper->outside.context);
}

/* Ticks of a time below 4 s; the pace is known. */
static inline uint64_t keeper_ticks_of(const struct keeper *keeper, uint64_t ns)
{
    return estimator_ticks(keeper->discipline.estimator.period, ns);
}

/* keeper_observe.c: the references' word into the sample, the sample into the discipline. */
void keeper_observe(struct keeper *keeper, struct discipline_sample *sample);

/* keeper_publish.c: draw the next lines, and bring them to readers. */
enum keeper_result keeper_publish(struct keeper *keeper);

#endif
