/* SPDX-License-Identifier: MIT */
#include "calibration_readings.h"

#include <string.h>

#include "clock/counter/probe.h"
#include "calibration_trial.h"

enum {
    SERIES = 768, /* for the vernier's distances */
};

static void find_step(struct waiter *waiter)
{
    struct timebase_counter counter;
    memset(&counter, 0, sizeof(counter));
    counter_find_granularity(&counter);
    waiter->vernier.step_ticks = (double)counter.granularity_ticks;
    waiter->vernier.half_step_ticks = (double)(counter.granularity_ticks - 1) / 2;
    waiter->learnt.phase_ticks = timebase_ticks_ordered() % counter.granularity_ticks;
}

/* A series that an interrupt lengthened would move the mean: twice the shortest is too long. */
static void find_offsets(struct waiter *waiter)
{
    struct vernier_sums sums;
    uint32_t readings[APPROACH_FINE], shortest = UINT32_MAX, seed = 1;
    memset(&sums, 0, sizeof(sums));
    for (int i = 0; i < SERIES; i++) {
        for (uint32_t left = calibration_random(&seed, 32); left > 0; left--)
            __asm__ __volatile__("");
        waiter->ways.read_fine(readings);
        uint32_t length = readings[APPROACH_FINE - 1] - readings[0];
        shortest = length < shortest ? length : shortest;
        if (i >= 16 && length < shortest + shortest / 4)
            vernier_add(&sums, readings);
    }
    if (vernier_fit(&waiter->vernier, &sums) == 0)
        waiter->vernier.readings = APPROACH_FINE;
}

/* A vernier is worth it where the step is longer than the uncertainty of a single reading. */
static void find_readings(struct waiter *waiter)
{
    find_step(waiter);
    waiter->vernier.readings = 1;
    waiter->best = waiter->ways.single;
    if (waiter->vernier.step_ticks < 5 || waiter->ways.read_fine == NULL)
        return;
    find_offsets(waiter);
    if (waiter->vernier.readings > 1)
        waiter->best = waiter->ways.vernier;
}

static void publish_offsets(struct waiter *waiter)
{
    waiter->approach.step_256 = (int32_t)(waiter->vernier.step_ticks * 256) - 1;
    for (int k = 0; k < APPROACH_FINE; k++)
        waiter->approach.offsets_256[k] = (int32_t)(waiter->vernier.offsets[k] * 256 + 0.5);
}

void calibrate_readings(struct waiter *waiter)
{
    find_readings(waiter);
    publish_offsets(waiter);
}
