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
/* The second one is of the first one's error: days ahead that is thousands of ticks. */
#define GUESSES 2

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

/* A time whose tick is wanted. */
struct inverse {
    const struct timebase_lines *lines;
    int64_t target_ns;
    bool is_utc;
};

static int64_t time_at(const struct inverse *inverse, uint64_t ticks)
{
    struct timebase_instant instant;
    convert(inverse->lines, ticks, &instant);
    return inverse->is_utc ? instant.utc_ns : instant.mono_ns;
}

static bool is_early(const struct inverse *inverse, uint64_t ticks)
{
    return time_at(inverse, ticks) < inverse->target_ns;
}

/* How many ticks of this line take so long, to 31 bits. Nobody relies on it. */
static uint64_t guess(const struct timebase_line *line, uint64_t ns)
{
    uint64_t length = (uint64_t)timebase_page_half(&line->period_ns) << 32 |
        timebase_page_word(&line->period_frac) >> 32;
    int shift = ns >> 32 == 0 ? 0 : 32 - __builtin_clzll(ns);
    return length == 0 ? 0 : (ns >> shift << 32) / length << shift;
}

/*
 * The first of so many ticks that is not early, or the one after them; time does not go back along
 * them. From the guess on in steps that double, until it lies between two of them; then by halves.
 */
static uint64_t first_on(const struct inverse *inverse, const struct timebase_line *line,
                         uint64_t first, uint64_t count)
{
    uint64_t low = 0, high = count, step = 1, at = 0;
    for (int i = 0; i < GUESSES; i++) {
        uint64_t left_ns = (uint64_t)inverse->target_ns - (uint64_t)time_at(inverse, first + at);
        at = (int64_t)left_ns < 0 ? at - guess(line, -left_ns) : at + guess(line, left_ns);
    }
    while (low < high) {
        if (at < low || at >= high)
            at = low + (high - low) / 2;
        if (is_early(inverse, first + at)) {
            low = at + 1;
            at = low + step;
        } else {
            high = at;
            at = high - step;
        }
        step = step < count ? 2 * step : step;
    }
    return first + low;
}

/*
 * Bit by bit, for any lines; where time goes back several ticks may be the first, and it is the one
 * that this finds.
 */
static uint64_t first_by_bits(const struct inverse *inverse, uint64_t origin, int bits)
{
    uint64_t below = 0; /* every tick at distance < below is too early */
    for (int bit = bits; bit >= 0; bit--) {
        uint64_t step = (uint64_t)1 << bit;
        if (is_early(inverse, origin + below + step - 1))
            below += step;
    }
    return origin + below;
}

/* Along a line whose tick is no longer than that of `after`, from one tick to another. */
static bool is_rising(const struct inverse *inverse, const struct timebase_line *line,
                      uint64_t first, uint64_t last)
{
    uint32_t longest_ns = timebase_page_half(&inverse->lines->after.period_ns);
    int64_t first_ns = time_at(inverse, first);
    return timebase_page_half(&line->period_ns) <= longest_ns && first_ns <= time_at(inverse, last);
}

/*
 * The first tick whose time is not below the target: the conversion itself is the judge, so the
 * inverse cannot disagree with it. On the reach no product overflows; so a line whose ends are in
 * order is rising.
 */
static uint64_t first_tick(const struct inverse *inverse)
{
    const struct timebase_lines *lines = inverse->lines;
    uint32_t period_ns = timebase_page_half(&lines->after.period_ns);
    int reach_bits = REACH_BITS - (period_ns == 0 ? 0 : 32 - __builtin_clz(period_ns));
    uint64_t after = timebase_page_word(&lines->after.start_ticks);
    uint64_t slew = timebase_page_word(&lines->slew.start_ticks);
    uint64_t before = timebase_page_word(&lines->before.start_ticks);
    uint64_t reach = (uint64_t)1 << reach_bits, origin = after - reach;
    if (is_early(inverse, after - 1)) {
        if (is_rising(inverse, &lines->after, after, after + reach - 1))
            return first_on(inverse, &lines->after, after, reach - 1);
    } else if (before - origin < slew - origin && slew - origin < reach &&
               is_rising(inverse, &lines->before, origin, slew - 1) &&
               is_rising(inverse, &lines->slew, slew, after - 1)) {
        if (is_early(inverse, slew - 1))
            return first_on(inverse, &lines->slew, slew, after - slew);
        uint64_t first = is_early(inverse, before) ? before : origin;
        if (!is_early(inverse, slew))
            return first_on(inverse, &lines->before, first, slew - first);
    }
    return first_by_bits(inverse, origin, reach_bits);
}

static bool invert(const struct timebase_page *page, int64_t target_ns, bool is_utc,
                   uint64_t *ticks)
{
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        uint64_t seq = timebase_page_seq(page, __ATOMIC_ACQUIRE);
        if (seq == 0)
            return false;
        struct inverse inverse = {&page->copy[seq & 1], target_ns, is_utc};
        *ticks = first_tick(&inverse);
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
