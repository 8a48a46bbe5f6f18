/* SPDX-License-Identifier: MIT */
/*
 * line: what one CPU's counter says of one of the kernel's clocks, for a millisecond. Pure.
 *
 *     ticks:    b ---- the kernel's clock is read: ns ---- a          then, up to b + window
 *     value at t:   ns + LEAD_NS + (t - b) * pace
 *
 * The clock showed `ns` after b, so at b it showed no more; and its pace changes by no more than
 * LEAD_NS in a window. So the value is never less than what the kernel's clock shows at t. It is
 * more by at most the bracket a - b, twice the lead, and what the pace is not known by
 * (docs/decisions/0018-exec.md).
 *
 * Nobody locks a line. Whoever finds it too old writes a new one, and it holds the sum of its own
 * words: a mixture of two, of threads that wrote at once or were stopped half-way, does not add up,
 * and is no line. (For that two different mixtures of 64-bit words would have the same sum.)
 */
#ifndef PRELOAD_LINE_H
#define PRELOAD_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/page.h>

/* A line is used no longer. A new one costs two readings of the kernel's clock, or a little more. */
#define LINE_WINDOW_NS 1000000
/* 500 ppm of it, the most that adjtimex() changes the kernel's frequency by, and 50 for crystals. */
#define LINE_LEAD_NS 550
/* A pace is known by brackets so many times as far apart as it is used for. */
#define LINE_BASELINES 4
/* It is measured over the last half second to second. */
#define LINE_HALF_NS 500000000
/* Where the kernel's clock takes longer to read, there are no lines. */
#define LINE_BRACKET_MAX_NS 50000

/* What readers need, in a cache line. */
struct line_read {
    uint64_t start_ticks;
    uint64_t start_ns; /* LINE_LEAD_NS in it */
    uint64_t pace;     /* 2^-32 ns per tick */
    uint64_t window_ticks;
    uint64_t epoch;     /* of the clock: it was not stepped since */
    uint64_t coarse_ns; /* CLOCK_MONOTONIC_COARSE before it was made */
    uint64_t sum;
};

/* What the next line is made of. */
struct line_past {
    uint64_t origin_ticks, origin_ns; /* the pace is measured from here, */
    uint64_t middle_ticks, middle_ns; /* and from here when that is too long ago */
    uint64_t last_ticks, last_ns;     /* the newest */
    uint64_t narrowest_ticks;         /* of all brackets, */
    uint64_t widest_ticks;            /* and of those that were taken up */
    uint64_t sum;
};

struct line {
    struct line_read read __attribute__((aligned(64)));
    struct line_past past __attribute__((aligned(64)));
};

/* The kernel's clock between two readings of one CPU's counter. */
struct bracket {
    uint64_t before_ticks, after_ticks;
    uint64_t ns;
};

/* Odd, and without a pattern. */
#define LINE_FACTORS                                                                               \
    {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbf58476d1ce4e5b9), UINT64_C(0x94d049bb133111eb),     \
     UINT64_C(0xd6e8feb86659fd93), UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db),     \
     UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3)}
enum {
    LINE_READ_WORDS = sizeof(struct line_read) / sizeof(uint64_t) - 1,
    LINE_PAST_WORDS = sizeof(struct line_past) / sizeof(uint64_t) - 1,
};

/* Not 0 for words of 0: memory that was never written is no line. */
static inline uint64_t line_sum(const uint64_t *words, int count)
{
    static const uint64_t factors[] = LINE_FACTORS;
    uint64_t sum = 1;
#pragma GCC unroll 8 /* they are constants, and a loop takes longer than its words */
    for (int i = 0; i < count; i++)
        sum += words[i] * factors[i];
    return sum;
}

static inline bool line_load_words(const uint64_t *from, uint64_t *to, int count)
{
#pragma GCC unroll 9
    for (int i = 0; i <= count; i++)
        to[i] = timebase_page_word(&from[i]);
    return to[count] == line_sum(to, count);
}

/* A copy; false if it is no line. */
static inline bool line_load(const struct line *line, struct line_read *out)
{
    return line_load_words(&line->read.start_ticks, &out->start_ticks, LINE_READ_WORDS);
}

bool line_load_past(const struct line *line, struct line_past *out);
void line_store(struct line *line, const struct line_read *read);
void line_store_past(struct line *line, const struct line_past *past);

/* False: the tick is not on it. */
static inline bool line_at(const struct line_read *line, uint64_t ticks, uint64_t *ns)
{
    uint64_t d = ticks - line->start_ticks;
    *ns = line->start_ns + (d * line->pace >> 32);
    return d <= line->window_ticks;
}

/* Is the bracket one to make a line of? Also learns how narrow they are. */
bool line_is_narrow(struct line_past *past, const struct bracket *bracket);

enum line_news {
    LINE_STEADY,
    LINE_BEGUN, /* the past began anew: it was the first, or clock or counter were set */
    LINE_LOST,  /* likewise: the counter has lost time. It stood still, or has become slower. */
};

/* Takes up a bracket that is narrow. */
enum line_news line_go_on(struct line_past *past, const struct bracket *bracket);

/* The line that begins with the newest bracket; false while its pace is not known yet. */
bool line_make(const struct line_past *past, struct line_read *out);

#endif
