/* SPDX-License-Identifier: MIT */
/* convert: ticks of another moment, and the way back from time to ticks. */
#include <timebase/page.h>

/* A publication takes longer than a conversion: even a few attempts in a row never fail. */
#define ATTEMPTS_MAX 1000
/*
 * The range of the inverse, either side of the start of `after`: at most 2^62 ns, within which
 * neither monotonic time nor UTC overflows.
 */
#define REACH_BITS 62

/* The line in whose span a tick lies; `before` has no beginning. */
static const struct timebase_line *line_for(const struct timebase_lines *lines, uint64_t ticks)
{
    if ((int64_t)(ticks - timebase_page_word(&lines->after.start_ticks)) >= 0)
        return &lines->after;
    if ((int64_t)(ticks - timebase_page_word(&lines->slew.start_ticks)) >= 0)
        return &lines->slew;
    return &lines->before;
}

/* Draws the line backwards: rounds down there too; the bound grows with the distance. */
static void convert_back(const struct timebase_line *line, uint64_t back,
                         struct timebase_instant *out)
{
    uint64_t low;
    uint64_t whole = timebase_multiply(back, timebase_page_word(&line->period_frac), &low);
    uint64_t distance = back * timebase_page_half(&line->period_ns) + whole + (low != 0);
    uint64_t drift = timebase_growth(back, timebase_page_half(&line->drift_rate));
    uint64_t slew = timebase_growth(back, timebase_page_half(&line->slew_rate));

    timebase_line_convert(line, 0, TIMEBASE_WANT_ALL, out);
    out->mono_ns = (int64_t)((uint64_t)out->mono_ns - distance);
    out->utc_ns = (int64_t)((uint64_t)out->utc_ns - distance);
    out->maxerror_ns += drift + slew;
    out->utc_maxerror_ns += drift;
}

static void convert(const struct timebase_lines *lines, uint64_t ticks,
                    struct timebase_instant *out)
{
    const struct timebase_line *line = line_for(lines, ticks);
    uint64_t d = ticks - timebase_page_word(&line->start_ticks);
    bool is_back = (int64_t)d < 0 && line == &lines->before;
    if (is_back)
        convert_back(line, -d, out);
    else
        timebase_line_convert(line, d, TIMEBASE_WANT_ALL, out);
    out->esterror_ns = timebase_lines_esterror(lines, line, is_back ? -d : d);
    out->flags = timebase_lines_flags(lines, ticks, out->flags);
    out->ticks = ticks;
}

TIMEBASE_API bool timebase_page_convert(const struct timebase_page *page, uint64_t ticks,
                                        struct timebase_instant *out)
{
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        uint64_t seq = timebase_page_seq(page, __ATOMIC_ACQUIRE);
        if (seq == 0)
            return false;
        convert(&page->copy[seq & 1], ticks, out);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (timebase_page_seq(page, __ATOMIC_RELAXED) == seq)
            return true;
    }
    return false;
}

static int64_t time_at(const struct timebase_lines *lines, uint64_t ticks, bool is_utc)
{
    struct timebase_instant instant;
    convert(lines, ticks, &instant);
    return is_utc ? instant.utc_ns : instant.mono_ns;
}

/*
 * The first tick whose time is not below the target, found bit by bit: the conversion itself is the
 * only arithmetic, so the inverse cannot disagree with it.
 */
static uint64_t first_tick(const struct timebase_lines *lines, int64_t target_ns, bool is_utc)
{
    uint32_t period_ns = timebase_page_half(&lines->after.period_ns);
    int reach_bits = REACH_BITS - (period_ns == 0 ? 0 : 32 - __builtin_clz(period_ns));
    uint64_t origin = timebase_page_word(&lines->after.start_ticks) - ((uint64_t)1 << reach_bits);
    uint64_t below = 0; /* every tick at distance < below is too early */
    for (int bit = reach_bits; bit >= 0; bit--) {
        uint64_t step = (uint64_t)1 << bit;
        if (time_at(lines, origin + below + step - 1, is_utc) < target_ns)
            below += step;
    }
    return origin + below;
}

static bool invert(const struct timebase_page *page, int64_t target_ns, bool is_utc,
                   uint64_t *ticks)
{
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        uint64_t seq = timebase_page_seq(page, __ATOMIC_ACQUIRE);
        if (seq == 0)
            return false;
        *ticks = first_tick(&page->copy[seq & 1], target_ns, is_utc);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (timebase_page_seq(page, __ATOMIC_RELAXED) == seq)
            return true;
    }
    return false;
}

TIMEBASE_API bool timebase_page_ticks_at_mono(const struct timebase_page *page, int64_t target_ns,
                                              uint64_t *ticks)
{
    return invert(page, target_ns, false, ticks);
}

TIMEBASE_API bool timebase_page_ticks_at_utc(const struct timebase_page *page, int64_t target_ns,
                                             uint64_t *ticks)
{
    return invert(page, target_ns, true, ticks);
}
