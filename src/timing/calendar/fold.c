/* SPDX-License-Identifier: MIT */
#include "fold.h"

#include <stdbool.h>

#define BINS 128
/* A window is as wide as ticks scatter (of a virtual machine some +/- 30 us), in whole bins and one
 * more, so that what lies across two bins is whole in some window; and at most an eighth. */
#define SCATTER_NS 70000
#define WINDOW_BINS_MAX (BINS / 8)

int64_t fold_phase(const struct fold *fold, const struct comb_gap *gap)
{
    return (gap->start_ns % fold->period_ns - fold->begin_ns + fold->period_ns) % fold->period_ns;
}

/* Gaps per bin, but of one period no more than one in each: a burst is no tooth. */
static void fill_bins(const struct fold *fold, uint16_t bins[BINS])
{
    int64_t last[BINS];
    for (int bin = 0; bin < BINS; bin++) {
        bins[bin] = 0;
        last[bin] = -1;
    }
    for (int i = 0; i < fold->count; i++) {
        int64_t phase_ns = fold->gaps[i].start_ns % fold->period_ns;
        int64_t number = fold->gaps[i].start_ns / fold->period_ns;
        int bin = (int)(phase_ns * BINS / fold->period_ns);
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

static void choose_window(struct fold *fold)
{
    uint16_t bins[BINS];
    int best = 0, most = -1;
    fill_bins(fold, bins);
    fold->window_bins = bins_of_window(fold->period_ns);
    for (int first = 0; first < BINS; first++) {
        int sum = 0;
        for (int i = 0; i < fold->window_bins; i++)
            sum += bins[(first + i) % BINS];
        if (sum > most) {
            most = sum;
            best = first;
        }
    }
    fold->begin_ns = fold->period_ns * best / BINS;
    fold->window_ns = fold->period_ns * fold->window_bins / BINS;
}

static void count_window(struct fold *fold)
{
    int64_t last = -1;
    fold->inside = 0;
    fold->teeth = 0;
    for (int i = 0; i < fold->count; i++) {
        const struct comb_gap *gap = &fold->gaps[i];
        if (fold_phase(fold, gap) >= fold->window_ns)
            continue;
        int64_t number = (gap->start_ns - fold->begin_ns + fold->period_ns) / fold->period_ns;
        fold->inside++;
        fold->teeth += number != last;
        last = number;
    }
    if (fold->teeth > fold->periods)
        fold->teeth = fold->periods;
}

void fold_make(struct fold *fold)
{
    choose_window(fold);
    count_window(fold);
}

/*
 * Chernoff's bound on the chance that at least `teeth` of so many periods have a gap in one window
 * if each has with probability q: (q / c)^teeth ((1 - q) / (1 - c))^(rest), c = teeth / periods;
 * times the number of windows. All gaps, the tick's too, count as noise in q, which is on
 * the safe side. The factors are taken in turn, as either power alone might leave the range.
 */
double fold_chance(const struct fold *fold)
{
    double q = (double)fold->count / (double)fold->periods * fold->window_bins / BINS;
    double c = (double)fold->teeth / (double)fold->periods;
    double bound = (double)BINS;
    if (q >= c)
        return 1;
    for (int64_t i = 1, hits = 0; i <= fold->periods; i++) {
        bool is_hit = hits * fold->periods < i * fold->teeth;
        hits += is_hit;
        bound *= is_hit ? q / c : (1 - q) / (1 - c);
    }
    return bound;
}
