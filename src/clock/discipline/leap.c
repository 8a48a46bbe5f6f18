/* SPDX-License-Identifier: MIT */
#include "leap.h"

#include <timebase/page.h>

#define DAY_NS 86400000000000
#define HOUR_NS 3600000000000
/* The clock may have been corrected at the same time. */
#define CORRECTED_NS (LEAP_NS / 2 - 1)
/* An announcement that ends so near to its moment has been, or is being, carried out. */
#define DUE_NS LEAP_NS
/*
 * If nobody has stepped the second so long after it was due, nobody will (some servers slew it
 * away). By then the reference's claim accounts for it.
 */
#define PATIENCE_NS HOUR_NS

static int64_t announced_step_ns(uint32_t flags)
{
    if (flags & TIMEBASE_LINE_LEAP_INSERT)
        return -LEAP_NS;
    return flags & TIMEBASE_LINE_LEAP_DELETE ? LEAP_NS : 0;
}

static int64_t midnight_after(int64_t utc_ns)
{
    int64_t into_day_ns = utc_ns % DAY_NS;
    return utc_ns - into_day_ns + (into_day_ns < 0 ? 0 : DAY_NS);
}

static void announce(struct leap *leap, int64_t utc_ns, int64_t step_ns)
{
    leap->step_ns = step_ns;
    leap->at_ns = midnight_after(utc_ns) - (step_ns > 0 ? LEAP_NS : 0);
    leap->has_stepped = false;
}

bool leap_is_made(const struct leap *leap, const struct leap_sample *sample, int64_t within_ns)
{
    int64_t rest_ns = sample->stepped_ns - leap->step_ns;
    return leap->step_ns != 0 && sample->utc_ns - sample->stepped_ns >= leap->at_ns &&
        rest_ns >= -within_ns && rest_ns <= within_ns;
}

/* UTC as it was counted before the step. */
static int64_t old_count_ns(const struct leap *leap, int64_t utc_ns)
{
    return leap->has_stepped ? utc_ns - leap->step_ns : utc_ns;
}

static bool is_over(const struct leap *leap, const struct leap_sample *sample)
{
    int64_t late_ns = old_count_ns(leap, sample->utc_ns) - leap->at_ns;
    return late_ns >= PATIENCE_NS ||
        (leap->has_stepped && late_ns > leap->maxerror_ns + DUE_NS);
}

void leap_observe(struct leap *leap, const struct leap_sample *sample)
{
    int64_t announced_ns = announced_step_ns(sample->flags);
    leap->maxerror_ns = sample->maxerror_ns;
    if (leap->step_ns == 0) {
        if (announced_ns != 0 && sample->utc_ns >= leap->quiet_until_ns)
            announce(leap, sample->utc_ns, announced_ns);
        return;
    }
    leap->has_stepped = leap->has_stepped || leap_is_made(leap, sample, CORRECTED_NS);
    bool is_withdrawn = announced_ns == 0 && !leap->has_stepped &&
        sample->utc_ns < leap->at_ns - DUE_NS - leap->maxerror_ns;
    if (is_withdrawn || is_over(leap, sample)) {
        leap->quiet_until_ns = is_withdrawn ? 0 : leap->at_ns + DAY_NS / 2;
        leap->step_ns = 0;
    }
}

uint64_t leap_error_ns(const struct leap *leap, int64_t utc_ns)
{
    bool is_due = leap->has_stepped || utc_ns >= leap->at_ns - leap->maxerror_ns;
    return leap->step_ns != 0 && is_due ? LEAP_NS : 0;
}
