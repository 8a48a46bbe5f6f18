/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include <timebase/counter.h>

#define STEPS 9
#define STEP_READS 5000

/*
 * A median, so that no interruption decides.
 *
 * Where reads in a row are two steps apart, as on a TSC that steps by 10 ns and takes 20 to read,
 * this is twice the common step (counter_common_step()). That one is not taken, because bounds rest
 * on the largest step, and it may be smaller: a counter of 0.6 steps a tick goes on by 1, 2, 2, and
 * the common divisor is 1. The smallest difference errs in the same way. And if a read takes longer
 * than a step, no number of reads tells even steps from uneven ones. The difference of such reads is
 * never less than a step, and more than one by a read at most: nothing beside maxerror, and esterror
 * takes no more of it than its samples scatter by.
 */
uint64_t counter_measure_step(void)
{
    uint64_t steps[STEPS];
    int count = 0;
    uint64_t last = timebase_ticks_ordered();
    for (int i = 0; i < STEP_READS && count < STEPS; i++) {
        uint64_t now = timebase_ticks_ordered();
        uint64_t step = now - last;
        last = now;
        if ((int64_t)step <= 0)
            continue;
        int place = count++;
        for (; place > 0 && steps[place - 1] > step; place--)
            steps[place] = steps[place - 1];
        steps[place] = step;
    }
    return count > 0 ? steps[count / 2] : 1;
}
