/* SPDX-License-Identifier: MIT */
#include "line.h"

#include <stddef.h>

#include <timebase/page.h>

/* Two brackets' distances by clock and counter differ by no more, beside their widths. */
#define PACE_CHANGE_PPM 600
/* Brackets further apart say nothing of a counter: who knows what the machine did meanwhile? */
#define FAR_TICKS (UINT64_C(1) << 44)

/* Odd, and without a pattern. */
static const uint64_t factors[] = {
    UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbf58476d1ce4e5b9), UINT64_C(0x94d049bb133111eb),
    UINT64_C(0xd6e8feb86659fd93), UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db),
    UINT64_C(0x8ebc6af09c88c6e3),
};
enum { WORDS = sizeof(factors) / sizeof(factors[0]) };

/* Not 0 for words of 0: memory that was never written is no line. */
static uint64_t sum_of(const uint64_t *words)
{
    uint64_t sum = 1;
    for (int i = 0; i < WORDS; i++)
        sum += words[i] * factors[i];
    return sum;
}

static bool load(const uint64_t *from, uint64_t *to)
{
    for (int i = 0; i <= WORDS; i++)
        to[i] = timebase_page_word(&from[i]);
    return to[WORDS] == sum_of(to);
}

static void store(uint64_t *to, const uint64_t *from)
{
    uint64_t sum = sum_of(from);
    for (int i = 0; i < WORDS; i++)
        timebase_page_set_word(&to[i], from[i]);
    timebase_page_set_word(&to[WORDS], sum);
}

TIMEBASE_STATIC_ASSERT(sizeof(struct line_read) == (WORDS + 1) * sizeof(uint64_t), "words alone");
TIMEBASE_STATIC_ASSERT(sizeof(struct line_past) == sizeof(struct line_read), "likewise");

bool line_load(const struct line *line, struct line_read *out)
{
    return load(&line->read.start_ticks, &out->start_ticks);
}

bool line_load_past(const struct line *line, struct line_past *out)
{
    return load(&line->past.origin_ticks, &out->origin_ticks);
}

void line_store(struct line *line, const struct line_read *read)
{
    store(&line->read.start_ticks, &read->start_ticks);
}

void line_store_past(struct line *line, const struct line_past *past)
{
    store(&line->past.origin_ticks, &past->origin_ticks);
}

/* 2^-32 ns per tick; 0 if it cannot be told. What is longer than 2^31 ns is told by fewer bits. */
static uint64_t pace_of(uint64_t ticks, uint64_t ns)
{
    while (ns >> 31 != 0) {
        ns >>= 1;
        ticks >>= 1;
    }
    return ticks == 0 ? 0 : (ns << 32) / ticks;
}

/* What ticks last at a pace, ns rounded down; less than 2^63. */
static uint64_t lasting(uint64_t ticks, uint64_t pace)
{
    uint64_t low, high = timebase_multiply(ticks, pace, &low);
    return high << 32 | low >> 32;
}

static uint64_t pace_so_far(const struct line_past *past)
{
    return pace_of(past->last_ticks - past->origin_ticks, past->last_ns - past->origin_ns);
}

/* One that was narrow by chance is forgotten. */
bool line_is_narrow(struct line_past *past, const struct bracket *bracket)
{
    uint64_t width = bracket->after_ticks - bracket->before_ticks;
    if (past->narrowest_ticks == 0 || width < past->narrowest_ticks)
        past->narrowest_ticks = width;
    bool is_narrow = width / 2 <= past->narrowest_ticks;
    if (!is_narrow)
        past->narrowest_ticks += past->narrowest_ticks / 8 + 1;
    return is_narrow;
}

static enum line_news begin(struct line_past *past, const struct bracket *bracket,
                            enum line_news news)
{
    past->origin_ticks = past->middle_ticks = past->last_ticks = bracket->before_ticks;
    past->origin_ns = past->middle_ns = past->last_ns = bracket->ns;
    return news;
}

/* ns * part / whole, where the first two are below 2^63 together with what they make. */
static uint64_t share(uint64_t ns, uint64_t part, uint64_t whole)
{
    return ns / whole * part + ns % whole * part / whole;
}

/*
 * The newest bracket against what came before it. While that has no pace there is nothing to say.
 * The clock's reading may be anywhere in each bracket: in the two that end this time, and in the two
 * that tell the pace, which counts for as many times as this time is longer than theirs.
 */
static enum line_news judge(const struct line_past *past, uint64_t ticks, uint64_t ns)
{
    uint64_t pace = pace_so_far(past), baseline_ns = past->last_ns - past->origin_ns;
    if (baseline_ns < LINE_WINDOW_NS)
        return LINE_STEADY;
    uint64_t by_counter_ns = lasting(ticks, pace);
    uint64_t bracket_ns = lasting(2 * past->narrowest_ticks, pace) + 1;
    uint64_t allowed_ns = 2 * bracket_ns + share(by_counter_ns, bracket_ns, baseline_ns) +
        share(by_counter_ns, PACE_CHANGE_PPM, 1000000);
    if (ns > by_counter_ns + allowed_ns)
        return LINE_LOST;
    return ns + allowed_ns < by_counter_ns ? LINE_BEGUN : LINE_STEADY;
}

enum line_news line_go_on(struct line_past *past, const struct bracket *bracket)
{
    uint64_t ticks = bracket->before_ticks - past->last_ticks;
    uint64_t ns = bracket->ns - past->last_ns;
    if (past->last_ns == 0 || ticks == 0 || ticks >= FAR_TICKS || (int64_t)ns < 0)
        return begin(past, bracket, LINE_BEGUN);
    enum line_news news = judge(past, ticks, ns);
    if (news != LINE_STEADY)
        return begin(past, bracket, news);
    past->last_ticks = bracket->before_ticks;
    past->last_ns = bracket->ns;
    if (past->last_ns - past->middle_ns >= LINE_HALF_NS) {
        past->origin_ticks = past->middle_ticks;
        past->origin_ns = past->middle_ns;
        past->middle_ticks = past->last_ticks;
        past->middle_ns = past->last_ns;
    }
    return LINE_STEADY;
}

/*
 * Each of the two brackets that tell the pace has the clock's reading somewhere in it, so the pace is
 * wrong by no more than a bracket in the time between them. What that makes of a window is added.
 */
bool line_make(const struct line_past *past, struct line_read *out)
{
    uint64_t baseline_ticks = past->last_ticks - past->origin_ticks;
    uint64_t baseline_ns = past->last_ns - past->origin_ns;
    uint64_t pace = pace_so_far(past);
    uint64_t bracket_ns = lasting(2 * past->narrowest_ticks, pace);
    if (pace == 0 || bracket_ns > LINE_BRACKET_MAX_NS || baseline_ns < LINE_BASELINES * bracket_ns)
        return false;
    uint64_t window_ns = baseline_ns / LINE_BASELINES;
    if (window_ns > LINE_WINDOW_NS)
        window_ns = LINE_WINDOW_NS;
    uint64_t unknown_ns = bracket_ns * window_ns / baseline_ns + 1;
    *out = (struct line_read){
        .start_ticks = past->last_ticks,
        .start_ns = past->last_ns + LINE_LEAD_NS + unknown_ns,
        .pace = pace,
        .window_ticks = pace_of(baseline_ns, baseline_ticks) * window_ns >> 32,
    };
    return true;
}
