/* SPDX-License-Identifier: MIT */
/*
 * bound: how wrong a line can be. At the sample the reference was known to within the bracket;
 * from there the unknown part of the slope and the oscillator's wandering add up with time.
 */
#ifndef DISCIPLINE_BOUND_H
#define DISCIPLINE_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "discipline.h"

/* A part in a million of a tick's length, as a line's rate: 2^-32 ns per tick, rounded up. */
uint32_t bound_rate(struct fixed period, uint32_t ppm);

/*
 * Growth of both bounds: the error of the slope, the oscillator's drift, and how far the
 * reference's pace at the sample, at which the line goes on, may be from that of true UTC.
 */
uint32_t bound_drift_rate(const struct discipline *discipline);

/* What the reference's own slews add to that for comparisons with it: the rest of A4. */
uint32_t bound_slew_rate(const struct discipline *discipline);

/* Do both rates fit their fields? Else readers cannot be told how the bound grows. */
bool bound_is_told(const struct discipline *discipline);

/*
 * maxerror_ns of a line from start_ticks on that is off by at most `off` plus what the newest
 * sample did not know.
 */
uint64_t bound_at(const struct discipline *discipline, struct fixed off, uint64_t start_ticks);

/*
 * esterror of a line that is off by `off` at start_ticks, there, in ns rounded up; and its growth,
 * in 2^-32 ns per tick. It is what the samples say of the error; maxerror is what the error can be.
 * 99.9 % of readings are within esterror while the reference is quiet or steered as NTP daemons
 * steer it; esterror promises nothing.
 */
uint64_t bound_esterror(const struct discipline *discipline, struct fixed off,
                        uint64_t start_ticks);
uint32_t bound_esterror_rate(const struct discipline *discipline);

#endif
