/* SPDX-License-Identifier: MIT */
#include "margin.h"

/* G: the step of the quantile's logarithm. */
#define GAIN 0.25
/* Means move by this share of the difference. */
#define MEAN_GAIN (1.0 / 16)
/*
 * A pause between two series of waits is no period: a longer interval counts as this many periods.
 */
#define PERIODS_MAX 2
/* Probes that never find room then cost little, but they go on. */
#define RARITY_MAX 64
/* A margin that has never been too short falls by a step of the logarithm in so many samples. */
#define FIRST_FALLS 8

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double within(double low, double value, double high)
{
    return value < low ? low : least(value, high);
}

/* e^x for |x| <= GAIN, to 1e-8. exp() would need one more library. */
static double exponential(double x)
{
    return 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6)))));
}

void margin_init(struct margin *margin)
{
    const struct margin fresh = {.wake_ns = MARGIN_START_NS,
                                 .mean_ns = -1,
                                 .sleep_ns = -1,
                                 .target_ns = INT64_MIN,
                                 .rarity = 1};
    *margin = fresh;
    margin_set(margin, 0.995, 0.05);
}

/* Written so that a NaN is out of range. */
bool margin_set(struct margin *margin, double quantile, double cpu_share)
{
    if (!(quantile > 0 && quantile < 1 && cpu_share > 0 && cpu_share <= 1))
        return false;
    margin->quantile = quantile;
    margin->cpu_share = cpu_share;
    margin->rise = exponential(GAIN * quantile);
    margin->fall = exponential(-GAIN * (1 - quantile));
    return true;
}

static bool is_capped(const struct margin *margin)
{
    return margin->cpu_share < 1 && margin->period_ns > 0;
}

/* What may be polled of a period; or of the wait, which after shorter ones is known sooner. */
static double budget_ns(const struct margin *margin)
{
    double kernel_ns = margin->sleep_ns > 0 ? margin->sleep_ns : 0;
    double left_ns = (double)margin->left_ns;
    double capped_ns = left_ns > margin->period_ns ? left_ns : margin->period_ns;
    return margin->cpu_share * capped_ns - kernel_ns;
}

int64_t margin_ns(const struct margin *margin, int64_t lead_ns)
{
    double wanted = margin->wake_ns;
    if (is_capped(margin) && margin->mean_ns >= 0)
        wanted = least(wanted, margin->mean_ns + budget_ns(margin) - (double)lead_ns);
    return (int64_t)within(MARGIN_MIN_NS, wanted, MARGIN_MAX_NS);
}

void margin_begin(struct margin *margin, int64_t target_ns, int64_t left_ns)
{
    double interval = (double)target_ns - (double)margin->target_ns;
    bool is_first = margin->target_ns == INT64_MIN;
    margin->target_ns = target_ns;
    margin->left_ns = left_ns;
    if (is_first || interval <= 0)
        return;
    if (margin->period_ns <= 0)
        margin->period_ns = interval;
    interval = least(interval, PERIODS_MAX * margin->period_ns);
    margin->period_ns += (interval - margin->period_ns) * MEAN_GAIN;
}

/* Would polling all of the wait keep to the cap? */
static bool is_affordable(const struct margin *margin, int64_t left_ns)
{
    return !is_capped(margin) || (double)left_ns <= budget_ns(margin);
}

/* Skips that one probe may stand for. */
static double skips_per_probe(const struct margin *margin)
{
    return 1 / (1 - margin->quantile);
}

static bool is_probe_due(const struct margin *margin)
{
    return margin->skipped >= skips_per_probe(margin) * margin->rarity;
}

int64_t margin_choose(struct margin *margin, int64_t left_ns, int64_t lead_ns)
{
    if (left_ns <= lead_ns)
        return -1;
    int64_t room = left_ns - lead_ns - MARGIN_NAP_MIN_NS;
    int64_t wanted = margin_ns(margin, lead_ns);
    if (wanted <= room)
        return wanted;
    if (room < MARGIN_MIN_NS)
        return -1;
    if (is_affordable(margin, left_ns) && !is_probe_due(margin)) {
        margin->skipped++;
        return -1;
    }
    return room;
}

/* e^(-G (1-q)) once for the sample and once for each skip, at most e^-G. */
static double fall_of_all(const struct margin *margin)
{
    double count = least(1.0 + margin->skipped, skips_per_probe(margin));
    return count > 1 ? exponential(-GAIN * (1 - margin->quantile) * count) : margin->fall;
}

/* The start is generous: until the first late wake-up it is left faster. */
static double fall_after(const struct margin *margin)
{
    double fall = fall_of_all(margin), first = exponential(-GAIN / FIRST_FALLS);
    return margin->late == 0 ? least(fall, first) : fall;
}

static void learn_quantile(struct margin *margin, double latency)
{
    double fall = fall_after(margin);
    double factor = latency > margin->wake_ns ? margin->rise : fall;
    margin->wake_ns = within(MARGIN_MIN_NS, margin->wake_ns * factor, MARGIN_MAX_NS);
}

/* The first sample is not cut to its wait's margin, which may have been a short one. */
static void learn_mean(struct margin *margin, double latency, double with_margin)
{
    if (margin->mean_ns < 0)
        margin->mean_ns = least(latency, margin->wake_ns);
    else
        margin->mean_ns += (least(latency, with_margin) - margin->mean_ns) * MEAN_GAIN;
}

static void plan_probe(struct margin *margin, bool is_late)
{
    if (!is_late)
        margin->rarity = 1;
    else if (margin->skipped > 0 && margin->rarity < RARITY_MAX)
        margin->rarity *= 2;
    margin->skipped = 0;
}

/* The first sample is taken as it is. Later samples that took far longer had interrupts of others
 * in them, and count only in part. */
void margin_charge(struct margin *margin, int64_t sleep_ns)
{
    double known = margin->sleep_ns, now = (double)sleep_ns;
    if (known < 0)
        margin->sleep_ns = now;
    else
        margin->sleep_ns += (least(now, 2 * known + MARGIN_MIN_NS) - known) * MEAN_GAIN;
}

void margin_observe(struct margin *margin, int64_t latency_ns, int64_t with_margin_ns)
{
    double latency = latency_ns > 0 ? (double)latency_ns : 0;
    bool is_late = latency_ns > with_margin_ns;
    learn_mean(margin, latency, (double)with_margin_ns);
    learn_quantile(margin, latency);
    plan_probe(margin, is_late);
    margin->samples++;
    margin->late += is_late;
}
