/* SPDX-License-Identifier: MIT */
#include "calibration_quiet.h"

#include "timing/learn/quantile.h"

/* Of the counter's step: by the spacings that are chosen for series it makes slopes differ by 0.023 at most. */
#define WIDE 0.025
#define LONGER 1.012 /* what is so much longer had a neighbour */

void quiet_begin(struct quiet *quiet, const struct waiter *waiter)
{
    *quiet = (struct quiet){.until = quiet->until,
                            .series = waiter->learnt.series,
                            .least_ticks = __builtin_inf()};
}

/* It takes some 25 us. */
static int is_quiet(struct quiet *quiet, const struct waiter *waiter)
{
    enum { SERIES = 32, EIGHTH = SERIES / 8 }; /* one in eight may be held up by something else */
    double slopes[SERIES];
    uint32_t readings[APPROACH_FINE];
    for (int i = 0; i < SERIES; i++) {
        waiter->ways.fine[quiet->series](readings);
        slopes[i] = vernier_slope(readings, APPROACH_FINE);
    }
    quantile_sort(slopes, SERIES);
    double shortest = slopes[EIGHTH], longest = slopes[SERIES - 1 - EIGHTH];
    if (shortest < quiet->least_ticks)
        quiet->least_ticks = shortest;
    return longest - shortest < WIDE * waiter->vernier.step_ticks &&
        shortest < LONGER * quiet->least_ticks;
}

static int has_time(const struct quiet *quiet)
{
    return (int64_t)(quiet->until - timebase_ticks()) > 0;
}

void quiet_run(struct quiet *quiet, struct waiter *waiter, quiet_part *part)
{
    if (!waiter_has_vernier(waiter)) {
        part(waiter);
        return;
    }
    do {
        while (!is_quiet(quiet, waiter) && has_time(quiet))
            continue;
        if (quiet->first_ticks == 0)
            quiet->first_ticks = quiet->least_ticks;
        part(waiter);
    } while (!is_quiet(quiet, waiter) && has_time(quiet));
}

int quiet_was_none(const struct quiet *quiet)
{
    return has_time(quiet) && quiet->first_ticks > LONGER * quiet->least_ticks;
}
