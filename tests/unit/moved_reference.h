/* SPDX-License-Identifier: MIT */
/* moved_reference: the kernel's monotonic clock, moved at will; UTC a made-up offset from it. */
#ifndef TEST_MOVED_REFERENCE_H
#define TEST_MOVED_REFERENCE_H

#include <timebase/error.h>

#include "clock/counter/probe.h"
#include "clock/own/own.h"
#include "kernel_bracket.h"

static int64_t moved_ns;
static int64_t moved_utc_offset_ns = 1700000000000000000;
static bool moved_is_lost; /* nobody can look at it */

static inline int64_t moved_now(void)
{
    return kernel_now(CLOCK_MONOTONIC) + moved_ns;
}

static inline int sample_moved(void *context, struct discipline_sample *sample)
{
    static const struct discipline_sample empty;
    (void)context;
    *sample = empty;
    if (moved_is_lost)
        return TIMEBASE_E_REFERENCE;
    take_kernel_bracket(moved_ns, sample);
    sample->step_ticks = counter_measure_step();
    sample->utc_offset_ns = moved_utc_offset_ns;
    return TIMEBASE_OK;
}

static inline int moment_moved(void *context, struct reference_moment *moment)
{
    static const struct reference_moment empty;
    (void)context;
    *moment = empty;
    moment->mono_ns = moved_now();
    moment->utc_offset_ns = moved_utc_offset_ns;
    moment->error_ns = 1;
    return TIMEBASE_OK;
}

static const struct reference moved_reference = {"moved", sample_moved, moment_moved, NULL};

static inline void wait_until(int64_t kernel_ns)
{
    while (kernel_now(CLOCK_MONOTONIC) < kernel_ns)
        timebase_arch_relax();
}

/* Maintain until lines are there. */
static inline void draw_first_lines(struct own_clock *own)
{
    while (timebase_page_word(&cell_lines_page(&own->cell)->seq) == 0) {
        timebase_clock_maintain(own_handle(own));
        wait_until(kernel_now(CLOCK_MONOTONIC) + 1000000);
    }
}

#endif
