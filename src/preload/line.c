/* SPDX-License-Identifier: MIT */
#include "line.h"

/* Two brackets' distances by clock and counter differ by no more, beside their widths. */
#define PACE_CHANGE_PPM 600
/* Brackets further apart say nothing of a counter: who knows what the machine did meanwhile? */
#define FAR_TICKS (UINT64_C(1) << 44)

/* A bracket is narrow if it is not wider than the narrowest by more. */
#define NARROW 3
/* Wider ones among those that were taken up: they are forgotten. */
#define WIDE 8

static void store(uint64_t *to, const uint64_t *from, int count)
{
    uint64_t sum = line_sum(from, count);
    for (int i = 0; i < count; i++)
        timebase_page_set_word(&to[i], from[i]);
    timebase_page_set_word(&to[count], sum);
}

bool line_load_past(const struct line *line, struct line_past *out)
{
    return line_load_words(&line->past.origin_ticks, &out->origin_ticks, LINE_PAST_WORDS);
}

void line_store(struct line *line, const struct line_read *read)
{
    store(&line->read.start_ticks, &read->start_ticks, LINE_READ_WORDS);
}

void line_store_past(struct line *line, const struct line_past *past)
{
    store(&line->past.origin_ticks, &past->origin_ticks, LINE_PAST_WORDS);
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

static uint64_t width_of(const struct bracket *bracket)
{
    return bracket->after_ticks - bracket->before_ticks;
}

/* One that was narrow by chance is forgotten. */
bool line_is_narrow(struct line_past *past, const struct bracket *bracket)
{
    uint64_t width = width_of(bracket);
    if (past->narrowest_ticks == 0 || width < past->narrowest_ticks)
        past->narrowest_ticks = width;
    bool is_narrow = width / NARROW <= past->narrowest_ticks;
    if (!is_narrow)
        past->narrowest_ticks += past->narrowest_ticks / 8 + 1;
    return is_narrow;
}

static enum line_news begin(struct line_past *past, const struct bracket *bracket,
                            enum line_news news)
{
    past->origin_ticks = past->middle_ticks = past->last_ticks = bracket->before_ticks;
    past->origin_ns = past->middle_ns = past->last_ns = bracket->ns;
    past->widest_ticks = width_of(bracket);
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
    uint64_t bracket_ns = lasting(past->widest_ticks, pace) + 1;
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
    if (past->widest_ticks / WIDE > past->narrowest_ticks)
        past->last_ns = 0;
    if (past->last_ns == 0 || ticks == 0 || ticks >= FAR_TICKS || (int64_t)ns < 0)
        return begin(past, bracket, LINE_BEGUN);
    if (width_of(bracket) > past->widest_ticks)
        past->widest_ticks = width_of(bracket);
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
    uint64_t bracket_ns = lasting(past->widest_ticks, pace) + 1;
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
