/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include <timebase/counter.h>

#define STEPS 9
#define STEP_READS 5000

/* A median, so that no interruption decides. */
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
