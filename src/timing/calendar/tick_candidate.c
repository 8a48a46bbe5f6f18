/* SPDX-License-Identifier: MIT */
#include "tick_candidate.h"

#include <stdbool.h>

#define BINS 128
/* A window is as wide as ticks scatter (in a virtual machine by some +/- 30 us), in whole bins, and
 * one bin more, so that some window holds all of what lies across two bins. It is at most an eighth
 * of the period. */
#define SCATTER_NS 70000
#define WINDOW_BINS_MAX (BINS / 8)

int64_t tick_candidate_phase(const struct tick_candidate *candidate, const struct tick_gap *gap)
{
    return (gap->start_ns % candidate->period_ns - candidate->begin_ns + candidate->period_ns) %
        candidate->period_ns;
}

/* Gaps per bin; of one period at most one in each, so that a burst does not look like a tick. */
static void fill_bins(const struct tick_candidate *candidate, uint16_t bins[BINS])
{
    int64_t last[BINS];
    for (int bin = 0; bin < BINS; bin++) {
        bins[bin] = 0;
        last[bin] = -1;
    }
    for (int i = 0; i < candidate->count; i++) {
        int64_t phase_ns = candidate->gaps[i].start_ns % candidate->period_ns;
        int64_t number = candidate->gaps[i].start_ns / candidate->period_ns;
        int bin = (int)(phase_ns * BINS / candidate->period_ns);
        if (last[bin] == number)
            continue;
        last[bin] = number;
        bins[bin]++;
    }
}

static int bins_of_window(int64_t period_ns)
{
    int64_t bins = (int64_t)SCATTER_NS * BINS / period_ns + 2;
    return bins < WINDOW_BINS_MAX ? (int)bins : WINDOW_BINS_MAX;
}

static void choose_window(struct tick_candidate *candidate)
{
    uint16_t bins[BINS];
    int best = 0, most = -1;
    fill_bins(candidate, bins);
    candidate->window_bins = bins_of_window(candidate->period_ns);
    for (int first = 0; first < BINS; first++) {
        int sum = 0;
        for (int i = 0; i < candidate->window_bins; i++)
            sum += bins[(first + i) % BINS];
        if (sum > most) {
            most = sum;
            best = first;
        }
    }
    candidate->begin_ns = candidate->period_ns * best / BINS;
    candidate->window_ns = candidate->period_ns * candidate->window_bins / BINS;
}

static void count_window(struct tick_candidate *candidate)
{
    int64_t last = -1;
    candidate->inside = 0;
    candidate->teeth = 0;
    for (int i = 0; i < candidate->count; i++) {
        const struct tick_gap *gap = &candidate->gaps[i];
        if (tick_candidate_phase(candidate, gap) >= candidate->window_ns)
            continue;
        int64_t number =
            (gap->start_ns - candidate->begin_ns + candidate->period_ns) / candidate->period_ns;
        candidate->inside++;
        candidate->teeth += number != last;
        last = number;
    }
    if (candidate->teeth > candidate->periods)
        candidate->teeth = candidate->periods;
}

void tick_candidate_measure(struct tick_candidate *candidate)
{
    choose_window(candidate);
    count_window(candidate);
}

/*
 * Chernoff's bound on the chance that at least `teeth` of so many periods have a gap in one window
 * if each has with probability q: (q / c)^teeth ((1 - q) / (1 - c))^(rest), c = teeth / periods;
 * times the number of windows. All gaps, the tick's too, count as noise in q, which is on
 * the safe side. The factors are taken in turn, as either power alone might leave the range.
 */
double tick_candidate_chance(const struct tick_candidate *candidate)
{
    double q =
        (double)candidate->count / (double)candidate->periods * candidate->window_bins / BINS;
    double c = (double)candidate->teeth / (double)candidate->periods;
    double bound = (double)BINS;
    if (q >= c)
        return 1;
    for (int64_t i = 1, hits = 0; i <= candidate->periods; i++) {
        bool is_hit = hits * candidate->periods < i * candidate->teeth;
        hits += is_hit;
        bound *= is_hit ? q / c : (1 - q) / (1 - c);
    }
    return bound;
}
