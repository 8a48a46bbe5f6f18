/* SPDX-License-Identifier: MIT */
/*
 * spread: how far the counters of two CPUs can be apart, for the bound. Measured, not corrected: as
 * long as zero lies within what was measured, a correction would only move the error.
 *
 * Two threads on two CPUs throw readings to each other. What is read after something arrived was
 * read later than what was sent, whatever the counters say:
 *
 *     there sees a reading of here:  there - here >= offset      so offset <= each of these
 *     here sees one of there:        here - there >= -offset     so offset >= each of there - here
 *
 * where offset is what the counter there shows less what the counter here shows at the same time.
 */
#ifndef SYNC_SPREAD_H
#define SYNC_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of an offset, in ticks; nothing yet: INT64_MIN to INT64_MAX. */
struct spread_range {
    int64_t low_ticks, high_ticks;
};

#define SPREAD_UNKNOWN ((struct spread_range){INT64_MIN, INT64_MAX})

/* One throw: sent on the CPU that it names, received on the other, each with its own counter. */
void spread_there(struct spread_range *range, uint64_t sent_here, uint64_t received_there);
void spread_here(struct spread_range *range, uint64_t sent_there, uint64_t received_here);

struct spread {
    uint64_t spread_ticks;  /* two CPUs' counters differ by no more */
    unsigned cpus;          /* that this process may use */
    unsigned measured_cpus; /* with the first of them among these; fewer than two: not measured */
    bool is_measured;       /* of all the CPUs that this process may use */
    bool excludes_zero;     /* of some pair of CPUs the counters certainly differ */
    bool is_inconsistent;   /* of some pair the inequalities contradict: no constant offset */
};

/*
 * The most by which any two of count CPUs differ, given the ranges of the others against the first:
 * ranges[0] is of the second CPU. UINT64_MAX: one of the ranges is unknown or contradicts itself.
 */
uint64_t spread_of(const struct spread_range *ranges, unsigned count);

/*
 * Measure this process' CPUs. Takes some milliseconds; returns after 50 ms whatever happens, with
 * those CPUs left out that were not to be had. One CPU: 0, not measured. Two threads are started
 * and ended; they run on each CPU in turn, for tens of microseconds. Returns 0, TIMEBASE_E_BUSY:
 * another thread is measuring, TIMEBASE_E_UNSUPPORTED: no affinities or threads here.
 */
int spread_measure(struct spread *spread);

#endif
