/* SPDX-License-Identifier: MIT */
/*
 * simulated_line: a reference that runs straight, in virtual time, and looks at it through
 * brackets of any width. The truth is known to 2^-64 ns.
 */
#ifndef TEST_SIMULATED_LINE_H
#define TEST_SIMULATED_LINE_H

#include "dice.h"
#include "clock/discipline/discipline.h"

struct simulated_line {
    uint64_t origin_ticks;
    struct fixed origin;
    struct fixed period;
    uint64_t now_ticks;
    int64_t utc_offset_ns, suspended_ns;
    bool is_synchronized;
};

static inline struct fixed simulated_truth(const struct simulated_line *line, uint64_t ticks)
{
    return fixed_add(line->origin, fixed_times(line->period, ticks - line->origin_ticks));
}

static inline struct simulated_line simulated_new(uint32_t period_ns, uint64_t period_frac)
{
    struct simulated_line line = {0};
    line.origin_ticks = line.now_ticks = 123456789;
    line.origin = fixed_from_ns(987654321);
    line.period.ns = period_ns;
    line.period.frac = period_frac;
    line.utc_offset_ns = 1700000000000000000;
    line.is_synchronized = true;
    return line;
}

/* From here on at this pace; no gap. */
static inline void simulated_change_pace(struct simulated_line *line, struct fixed period)
{
    line->origin = simulated_truth(line, line->now_ticks);
    line->origin_ticks = line->now_ticks;
    line->period = period;
}

static inline void simulated_wait(struct simulated_line *line, uint64_t ns)
{
    line->now_ticks += fixed_ticks(line->period, ns);
}

/* The reference answers `at` ticks after the first read of the counter, bracket - at before the
 * last. */
static inline struct discipline_sample simulated_sample(struct simulated_line *line,
                                                        uint64_t bracket, uint64_t at)
{
    struct discipline_sample sample = {0};
    sample.ticks_before = line->now_ticks;
    sample.mono_ns = simulated_truth(line, line->now_ticks + at).ns;
    line->now_ticks += bracket;
    sample.ticks_after = line->now_ticks;
    sample.utc_offset_ns = line->utc_offset_ns;
    sample.suspended_ns = line->suspended_ns;
    sample.maxerror_ns = 1000000;
    sample.is_synchronized = line->is_synchronized;
    return sample;
}

/* Mostly narrow brackets, answered anywhere within, the ends included; now and then very wide ones.
 */
static inline struct discipline_sample simulated_disturbed_sample(struct simulated_line *line,
                                                                  struct dice *dice)
{
    uint64_t usual = fixed_ticks(line->period, 40 + dice_below(dice, 60)) + 1;
    uint64_t bracket = dice_below(dice, 8) == 0 ? usual * (1 + dice_below(dice, 4000)) : usual;
    uint64_t where = dice_below(dice, 3);
    uint64_t at = where == 0 ? 0 : where == 1 ? bracket : dice_below(dice, bracket + 1);
    return simulated_sample(line, bracket, at);
}

#endif
