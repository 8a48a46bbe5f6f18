/* SPDX-License-Identifier: MIT */
/*
 * calibration: measures the machine as waits see it. Each step needs those before it:
 *
 *   warm up     until the core clock stands still, or 3 ms
 *   readings    step and phase of the counter, distances of the vernier's readings
 *   plain       waits at random targets by the polling loop: bias, spread, stamp
 *   cycles      ticks from the clean sample to the event, of the shortest and of the longest run
 *   exact       as plain, exact, with each sample that there is
 *   calls       from the event to the return; ticks of a run alone, by its length
 *
 * An event takes a fine reading first. All of it takes some 20 ms where the counter steps. Means are trimmed: an
 * interrupt spoils the trials that it hits, not the result. A neighbour is waited for (calibration_quiet.h).
 */
#ifndef CALIBRATION_CALIBRATION_H
#define CALIBRATION_CALIBRATION_H

#include "timing/learn/within.h"
#include "timing/waiter/waiter.h"

enum { CALIBRATION_PATIENCE_NS = 150000000 };

/* Learn all of it, waiting so long for a quiet core. What was known of the last wait is settled first. */
void calibrate(struct waiter *waiter, int64_t patience_ns);

/* Where no exact wait does better than the loop, or a neighbour has gone since. */
enum { CALIBRATION_ATTEMPTS = 8 };

/*
 * ... if the waiter's machine has changed, or exact waits are possible and there are none yet, or the one before had
 * a neighbour.
 */
void calibrate_again(struct waiter *waiter, int64_t patience_ns);

/*
 * Before a wait that is long enough for it, by what the last one took; more than 40 ms are a hold-up's, or
 * patience. A quarter of the wait is for that.
 */
static inline void calibrate_before(const struct wait *wait)
{
    enum { LEAST_NS = 20000000, MOST_NS = 80000000, AS_LONG = 2, QUARTERS = 4 };
    struct waiter *waiter = wait->waiter;
    double left_ns = (double)(int64_t)(wait->ticks - wait->entered_ticks) * waiter->learnt.period_ns;
    double needed_ns = within(LEAST_NS, AS_LONG * waiter->calibration_ns, MOST_NS);
    if (left_ns > needed_ns)
        calibrate_again(waiter, (int64_t)least_of(left_ns / QUARTERS, CALIBRATION_PATIENCE_NS));
}

#endif
