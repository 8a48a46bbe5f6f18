/* SPDX-License-Identifier: MIT */
/*
 * Release k of `a`, ready at A, and release j of `b`, ready at B, overlap if
 *
 *     A < B + b.wcet  and  B < A + a.wcet
 *
 * With reach(k) = A + a.wcet - 1 - b.ready and slack = a.wcet + b.wcet - 2 that is
 *
 *     reach(k) - slack <= j * b.period <= reach(k)
 *
 * So some integer j fits if reach(k) mod b.period <= slack; and as reach grows by a.period with
 * each k, the question is for the first k at which a multiple of one number, modulo another, falls
 * into a range. Euclid's algorithm answers it in a hundred steps at most; counting through the
 * pattern might take years.
 */
#include "overlap.h"

#define NEVER UINT64_MAX

/*
 * The first x > 0 with low <= x * step mod modulus <= high; 0 < low <= high < modulus, step <
 * modulus. Each turn around the modulus is a step of the same question with a smaller modulus, so
 * the recursion is no deeper than Euclid's: some 90 for 64 bits. A product x * step that overflows
 * is a time beyond the life of any calendar.
 */
static uint64_t first_in_range(uint64_t step, uint64_t modulus, uint64_t low, uint64_t high)
{
    if (step == 0)
        return NEVER;
    uint64_t x = (low - 1) / step + 1;
    if (x * step <= high)
        return x;
    /* No multiple of step in [low, high]: so neither end is one. */
    uint64_t turns = first_in_range(modulus % step, step, step - high % step, step - low % step);
    uint64_t travelled;
    if (turns == NEVER || __builtin_mul_overflow(turns, modulus, &travelled) ||
        __builtin_add_overflow(travelled, low - 1, &travelled))
        return NEVER;
    return travelled / step + 1;
}

/* How many more releases of `a` until one fits, from one with this reach >= 0 on. */
static uint64_t releases_until(const struct pattern *a, const struct pattern *b, int64_t reach_ns,
                               int64_t slack_ns)
{
    uint64_t modulus = (uint64_t)b->period_ns, slack = (uint64_t)slack_ns;
    uint64_t rest = (uint64_t)reach_ns % modulus;
    if (rest <= slack)
        return 0;
    return first_in_range((uint64_t)a->period_ns % modulus, modulus, modulus - rest,
                          modulus - rest + slack);
}

/* Release 0 of `b` or the first of those that overlap with a release of this reach. */
static uint64_t first_fitting(const struct pattern *b, int64_t reach_ns, int64_t slack_ns)
{
    int64_t lowest_ns = reach_ns - slack_ns;
    return lowest_ns <= 0 ? 0 : (uint64_t)((lowest_ns - 1) / b->period_ns) + 1;
}

bool overlap_first(const struct pattern *a, const struct pattern *b, int64_t *at_ns)
{
    if (a->count == 0 || b->count == 0)
        return false;
    int64_t slack_ns = a->wcet_ns + b->wcet_ns - 2;
    int64_t reach_ns = a->ready_ns + a->wcet_ns - 1 - b->ready_ns;
    /* Earlier releases of `a` end before `b` begins, later ones begin after `b` has ended. */
    uint64_t first = reach_ns >= 0 ? 0 : (uint64_t)((-reach_ns - 1) / a->period_ns) + 1;
    int64_t farthest_ns = (int64_t)(b->count - 1) * b->period_ns + slack_ns;
    if (reach_ns > farthest_ns)
        return false;
    uint64_t last = (uint64_t)((farthest_ns - reach_ns) / a->period_ns);
    if (last > a->count - 1)
        last = a->count - 1;
    if (first > last)
        return false;
    reach_ns += (int64_t)first * a->period_ns;
    uint64_t more = releases_until(a, b, reach_ns, slack_ns);
    if (more > last - first)
        return false;
    reach_ns += (int64_t)more * a->period_ns;
    int64_t a_ns = pattern_ready(a, first + more);
    int64_t b_ns = pattern_ready(b, first_fitting(b, reach_ns, slack_ns));
    *at_ns = a_ns > b_ns ? a_ns : b_ns;
    return true;
}
