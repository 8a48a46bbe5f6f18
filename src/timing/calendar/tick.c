/* SPDX-License-Identifier: MIT */
/*
 * Gaps are taken modulo each period that kernels use, so each gap has a phase. The gaps of the tick
 * all fall into one narrow window of phases, and nearly every period has one there. Gaps of other
 * causes fall into all windows alike. So the test compares how many periods have a gap in the best
 * window with what chance would give. Many gaps of other causes do not hide the tick, and alone
 * they make no comb.
 *
 * A tick of 4 ms shows with 2 ms and with 8 ms too. But with 2 ms every other period has no gap in
 * the window, and with 8 ms half of the gaps are outside of the window. The product of both shares
 * is greatest for the right period.
 */
#include "tick.h"

#include <stdbool.h>

#include "tick_candidate.h"

/* The begins of the tick's gaps are no further apart than this. */
#define SCATTER_NS 70000
#define TEETH_MIN 5
#define COVERAGE_MIN 0.5
/* The highest chance at which noise may pass as a tick, over all windows of all candidates. */
#define CHANCE_MAX 1e-5

/* CONFIG_HZ of Linux: x86, Arm and others; MIPS; Arm's old boards; Alpha. */
static const int tick_hz[] = {100, 250, 300, 1000, 24, 48, 128, 256, 1024, 200, 500, 1200};
enum { CANDIDATES = sizeof(tick_hz) / sizeof(tick_hz[0]) };

/* As TICK_NSEC of the kernel: rounded to a whole ns. */
static int64_t period_of(int hz)
{
    return (1000000000 + hz / 2) / hz;
}

static double share_of(const struct tick_candidate *candidate)
{
    return (double)candidate->inside / (double)candidate->count;
}

static double coverage_of(const struct tick_candidate *candidate)
{
    return (double)candidate->teeth / (double)candidate->periods;
}

/* How good a comb the candidate makes: 0 if it is none. */
static double judge(struct tick_candidate *candidate, int hz, int64_t watched_ns)
{
    candidate->period_ns = period_of(hz);
    candidate->periods = watched_ns / candidate->period_ns;
    if (candidate->periods < TEETH_MIN)
        return 0;
    tick_candidate_measure(candidate);
    if (candidate->teeth < TEETH_MIN || coverage_of(candidate) < COVERAGE_MIN ||
        tick_candidate_chance(candidate) * CANDIDATES > CHANCE_MAX)
        return 0;
    return share_of(candidate) * coverage_of(candidate);
}

static void sort(int64_t *values, int count)
{
    for (int step = count / 2; step > 0; step /= 2)
        for (int i = step; i < count; i++) {
            int64_t value = values[i];
            int j = i;
            for (; j >= step && values[j - step] > value; j -= step)
                values[j] = values[j - step];
            values[j] = value;
        }
}

/*
 * The begins, in the window's own phase from first to below end, and the lengths of the gaps
 * there, each sorted. Returns how many.
 */
static int collect(const struct tick_candidate *candidate, int64_t first_ns, int64_t end_ns,
                   int64_t *begins_ns, int64_t *lengths_ns)
{
    int count = 0;
    for (int i = 0; i < candidate->count; i++) {
        int64_t phase_ns = tick_candidate_phase(candidate, &candidate->gaps[i]);
        if (phase_ns < first_ns || phase_ns >= end_ns)
            continue;
        begins_ns[count] = phase_ns;
        lengths_ns[count++] = candidate->gaps[i].length_ns;
    }
    sort(begins_ns, count);
    sort(lengths_ns, count);
    return count;
}

/*
 * The begins of the tick's gaps lie within SCATTER_NS of each other, somewhere in a window that may
 * be much wider. The comb's length is the median of the gaps' lengths, because a preemption also
 * begins with a tick, and lasts long.
 */
static void measure(const struct tick_candidate *candidate, struct timebase_tick_comb *out)
{
    int64_t begins_ns[TICK_GAPS_MAX], lengths_ns[TICK_GAPS_MAX];
    int inside = collect(candidate, 0, candidate->window_ns, begins_ns, lengths_ns);
    int64_t middle_ns = begins_ns[inside / 2];
    inside = collect(candidate, middle_ns - SCATTER_NS / 2, middle_ns + SCATTER_NS / 2, begins_ns,
                     lengths_ns);
    int64_t first_ns = begins_ns[(inside - 1) * 5 / 100];
    int64_t last_ns = begins_ns[(inside - 1) * 95 / 100] + lengths_ns[inside / 2];
    if (last_ns - first_ns > candidate->period_ns / 2)
        return;
    out->period_ns = candidate->period_ns;
    out->width_ns = last_ns - first_ns;
    out->phase_ns = (candidate->begin_ns + (first_ns + last_ns) / 2) % candidate->period_ns;
    out->share = (double)inside / (double)candidate->count;
}

void tick_find(const struct tick_gap *gaps, int count, int64_t watched_ns,
               struct timebase_tick_comb *out)
{
    struct timebase_tick_comb none = {0, 0, 0, 0.0, (uint64_t)count, 0};
    struct tick_candidate best = {0};
    double highest = 0;
    *out = none;
    for (int i = 0; i < count; i++)
        if (gaps[i].length_ns > out->longest_ns)
            out->longest_ns = gaps[i].length_ns;
    for (int i = 0; i < CANDIDATES; i++) {
        struct tick_candidate candidate = {.gaps = gaps, .count = count};
        double goodness = judge(&candidate, tick_hz[i], watched_ns);
        if (goodness <= highest)
            continue;
        highest = goodness;
        best = candidate;
    }
    if (highest > 0)
        measure(&best, out);
}
