/* SPDX-License-Identifier: MIT */
#include "cadence.h"

/* The interval doubles from the first to the second as the slope gets better. */
#define INTERVAL_FIRST_NS 1000000
#define INTERVAL_NS 100000000
/* Called by hand, it may be shorter still. */
#define INTERVAL_MIN_NS 500000
/* Manual maintenance is overdue after this. */
#define MANUAL_HORIZON_NS 1000000000
/* Publishing takes about a microsecond; a short interruption of the writer should fit in too. */
#define LEAD_MIN_NS 20000

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t cadence_next_ns(const struct cadence *cadence, uint64_t gap_ns)
{
    uint64_t interval_ns = cadence->is_manual ? larger(gap_ns, INTERVAL_MIN_NS)
                                              : larger(2 * cadence->interval_ns, INTERVAL_FIRST_NS);
    return interval_ns < INTERVAL_NS ? interval_ns : INTERVAL_NS;
}

/*
 * A tenth of the interval ahead; then the slew, gentle if there is little to correct, up to
 * nearly all of the interval if there is much.
 */
struct schedule cadence_schedule(const struct cadence *cadence, uint64_t now_ticks, bool is_urgent,
                                 unsigned attempt)
{
    uint64_t interval_ns = larger(cadence->interval_ns, INTERVAL_MIN_NS);
    uint64_t lead_ns = is_urgent ? LEAD_MIN_NS : larger(interval_ns / 10, LEAD_MIN_NS);
    struct schedule schedule;
    schedule.now_ticks = now_ticks;
    schedule.lead_ns = lead_ns << attempt;
    schedule.slew_ns = interval_ns * 3 / 10;
    schedule.slew_max_ns = interval_ns * 8 / 10;
    schedule.horizon_ns = cadence->is_manual ? MANUAL_HORIZON_NS : interval_ns;
    schedule.utc_offset_ns = 0;
    return schedule;
}
