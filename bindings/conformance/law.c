/* SPDX-License-Identifier: MIT */
#include "law.h"

#define GRAIN_BITS 24 /* lines start so many bits of ticks apart: their ends are whole ns */
#define FUTURE ((uint64_t)1 << 43)
#define BASE_NS ((uint64_t)1 << 20)
#define UTC_BASE_NS ((uint64_t)1 << 32)

static uint64_t grains(uint64_t ticks, uint64_t number)
{
    return (ticks * number) >> GRAIN_BITS;
}

/* What d ticks last by law n. Exact if d is a multiple of 2^24, and for those before t0 too. */
static uint64_t elapsed_ns(uint64_t n, int64_t d)
{
    int64_t bend = d * (int64_t)(n % 128 + 1);
    return (uint64_t)(d + ((n & 1 ? bend : -bend) >> GRAIN_BITS));
}

static uint64_t growth_ns(int64_t d, uint64_t rate)
{
    return (uint64_t)((d * (int64_t)rate) >> GRAIN_BITS);
}

static uint64_t drift(uint64_t n)
{
    return n % 1024;
}

static uint64_t slew(uint64_t n)
{
    return (n + 512) % 1024;
}

static uint64_t estimate(uint64_t n)
{
    return (n + 256) % 1024;
}

static uint32_t flags(uint64_t n)
{
    return (uint32_t)n << TIMEBASE_LINE_TAI_SHIFT | TIMEBASE_LINE_TAI_VALID |
        TIMEBASE_STATUS_SYNCHRONIZED;
}

/* The one line of law n, as it is written from d ticks after t0, a multiple of 2^24. */
static struct timebase_line line_from(uint64_t n, uint64_t t0, int64_t d)
{
    struct timebase_line line = {0};
    uint64_t bend = (n % 128 + 1) << (64 - GRAIN_BITS);
    line.start_ticks = t0 + (uint64_t)d;
    line.mono_ns = (n << 28) + elapsed_ns(n, d);
    line.utc_ns = line.mono_ns + n;
    line.period_ns = (uint32_t)(n & 1);
    line.period_frac = n & 1 ? bend : -bend;
    line.flags = flags(n);
    line.maxerror_ns = BASE_NS + 3 * n + growth_ns(d, drift(n)) + growth_ns(d, slew(n));
    line.drift_rate = (uint32_t)(drift(n) << (32 - GRAIN_BITS));
    line.slew_rate = (uint32_t)(slew(n) << (32 - GRAIN_BITS));
    /* The bound of UTC has no slew, and it is maxerror_ns that this is added to. */
    line.utc_maxerror_ns = UTC_BASE_NS - BASE_NS + 4 * n - growth_ns(d, slew(n));
    return line;
}

static uint64_t esterror_from(uint64_t n, int64_t d)
{
    return BASE_NS + 5 * n + growth_ns(d, estimate(n));
}

void law_lines(uint64_t n, uint64_t t0, struct timebase_lines *out)
{
    int64_t past = -(int64_t)((n % 13) << GRAIN_BITS);
    int64_t future = (int64_t)(FUTURE + ((n % 11) << GRAIN_BITS));
    int64_t slew_d = n % 3 == 2 ? future : past;
    int64_t after_d = n % 3 == 0 ? past : future;
    struct timebase_lines lines = {.before = line_from(n, t0, past - (1 << GRAIN_BITS)),
                                   .slew = line_from(n, t0, slew_d),
                                   .after = line_from(n, t0, after_d)};
    lines.validity.silent_ticks = TIMEBASE_PAGE_NEVER - 2 * n - 1;
    lines.validity.void_ticks = TIMEBASE_PAGE_NEVER - n;
    lines.validity.before_esterror_ns = esterror_from(n, past - (1 << GRAIN_BITS));
    lines.validity.slew_esterror_ns = esterror_from(n, slew_d);
    lines.validity.after_esterror_ns = esterror_from(n, after_d);
    lines.validity.esterror_rate = (uint32_t)(estimate(n) << (32 - GRAIN_BITS));
    *out = lines;
}

void law_instant(uint64_t n, uint64_t d, struct timebase_instant *out)
{
    uint64_t bend = d * (n % 128 + 1);
    uint64_t ns = n & 1 ? d + (bend >> 24) : d - ((bend + (1 << 24) - 1) >> 24);
    out->mono_ns = (int64_t)((n << 28) + ns);
    out->utc_ns = (int64_t)((n << 28) + ns + n);
    out->maxerror_ns = BASE_NS + 3 * n + grains(d, drift(n)) + grains(d, slew(n));
    out->utc_maxerror_ns = UTC_BASE_NS + 7 * n + grains(d, drift(n));
    out->esterror_ns = BASE_NS + 5 * n + grains(d, estimate(n));
    out->flags = flags(n);
}
