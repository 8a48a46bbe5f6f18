/* SPDX-License-Identifier: MIT */
/*
 * delay_from_call: a short delay by a counter with far steps, which counts from its caller's
 * reading. A second one would say where it is to a step only; but the first says when it is
 * known. From there on roots pass, eight at least and as many more as there is time for, and all
 * that a delay has to do is done meanwhile; behind them comes the chain of delay_counted. So from
 * that reading to the return it is a sum of latencies, and no step is in it.
 *
 * At its end each reads the counter, and the next one learns from that, behind its roots. Two
 * readings are less than a step from where they were taken, each, so a single one says little;
 * the mean of many says what cycles of the core take, and what there is beside them.
 *
 * In a longer one the counter is read 0.17 us before its end, too. If what came before that was
 * held up by more than a step, the rest is shorter by as much.
 *
 * By code that may be cold a reading that waits for nothing tells when that had come: if the
 * roots may have passed before, the loop has the delay.
 */
#ifndef DELAY_DELAY_FROM_CALL_H
#define DELAY_DELAY_FROM_CALL_H

#include "timing/approach/hide.h"

#include "delay_counted.h"

/*
 * More roots, at eight a time: as many as there is time for, as fewer than two hide nothing. Some
 * is left to the chain behind them: where that begins is predicted wrongly now and then, and a
 * shorter one would not outlast that.
 */
static inline int delay_eights_of(const struct more_roots *roots, double cycles)
{
    enum { LEAST = 2, MOST = 8, CHAIN_CYCLES = 56 };
    int eights = (int)((cycles - CHAIN_CYCLES - roots->beside_cycles) * roots->eights_per_cycle);
    return eights < LEAST ? 0 : eights < MOST ? eights : MOST;
}

/* Of a longer one, the second of its chains. */
enum { DELAY_SECOND_CYCLES = 360 };

/* What of its cycles roots may take. */
static inline double delay_hideable(const struct two_chains *two, uint64_t delay_ns, double cycles)
{
    return delay_ns < two->from_ns ? cycles : cycles - two->last_cycles;
}

/*
 * So many cycles behind `link`, which is known eight roots and so many eights after begin_ticks.
 * Returns 0, or 1 if it takes longer.
 */
int delay_count_from_call(struct waiter *waiter, uint64_t delay_ns, uint64_t begin_ticks,
                          uint64_t link, double cycles, int eights);

/* `link` is known eight roots after begin_ticks: they are in its caller's first lines of code. */
static inline __attribute__((always_inline)) int
delay_from_call(struct waiter *waiter, uint64_t delay_ns, uint64_t begin_ticks, uint64_t link)
{
    const struct waiter_counted *counted = &waiter->counted;
    const struct counted_lesson *lesson = &waiter->counted_lesson;
    const struct more_roots *roots = &lesson->roots;
    double cycles = (double)(int64_t)delay_ns * counted->rate.cycles_per_ns - counted->less_cycles;
    int eights = delay_eights_of(roots, delay_hideable(&lesson->two, delay_ns, cycles));
    if (__builtin_expect(eights > 0, 1)) {
        link = approach_link_more(link, (unsigned)eights);
        cycles -= roots->beside_cycles + eights * roots->each_cycles;
    }
    return delay_count_from_call(waiter, delay_ns, begin_ticks, link, cycles, eights);
}

#endif
