/* SPDX-License-Identifier: MIT */
#include "device_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As wide as what nothing disturbed: a quarter of them is, at least, on any machine in use. */
enum { UNDISTURBED_SHARE = 4, COUNT_MIN = 3 };
/* Wide is what is half as wide again as that. */
static int is_wide(uint64_t width, uint64_t undisturbed)
{
    return width > undisturbed + undisturbed / 2;
}


static uint64_t width_of(const struct device_sighting *sighting)
{
    return sighting->after - sighting->before;
}

static int compare(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

unsigned device_narrow(struct device_sighting *sightings, unsigned count)
{
    uint64_t widths[DEVICE_SIGHTINGS];
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++)
        widths[i] = width_of(&sightings[i]);
    qsort(widths, count, sizeof(widths[0]), compare);
    for (unsigned i = 0; i < count; i++)
        if (!is_wide(width_of(&sightings[i]), widths[count / UNDISTURBED_SHARE]))
            sightings[kept++] = sightings[i];
    return kept;
}

/* Differences from the first one: small enough for a double, where ticks since boot are not. */
static double ticks_since(const struct device_sighting *first, uint64_t ticks)
{
    return (double)(int64_t)(ticks - first->before);
}

static double middle(const struct device_sighting *first, const struct device_sighting *one)
{
    return (ticks_since(first, one->before) + ticks_since(first, one->after)) / 2;
}

static double counts_since(const struct device_sighting *first, const struct device_sighting *one)
{
    return (double)(one->count - first->count);
}

struct straight {
    double slope, start; /* middle = start + slope * counts */
};

/* Least squares about the centre; no slope if all are of one count. */
static struct straight straight_line(const struct device_sighting *sightings, unsigned count)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (unsigned i = 0; i < count; i++) {
        x += counts_since(&sightings[0], &sightings[i]) / count;
        y += middle(&sightings[0], &sightings[i]) / count;
    }
    for (unsigned i = 0; i < count; i++) {
        double dx = counts_since(&sightings[0], &sightings[i]) - x;
        xx += dx * dx;
        xy += dx * (middle(&sightings[0], &sightings[i]) - y);
    }
    double slope = xx > 0 ? xy / xx : 0;
    return (struct straight){slope, y - slope * x};
}

static void take_residuals(const struct device_sighting *sightings, unsigned count,
                           struct timebase_bench_fit *out)
{
    struct straight line = straight_line(sightings, count);
    double squares = 0;
    for (unsigned i = 0; i < count; i++) {
        double counts = counts_since(&sightings[0], &sightings[i]);
        double off = fabs(middle(&sightings[0], &sightings[i]) - line.start - line.slope * counts);
        squares += off * off;
        out->residual_most_ticks = fmax(out->residual_most_ticks, off);
    }
    out->residual_ticks = sqrt(squares / count);
    out->ticks_per_count = line.slope;
}

/*
 * Between the two sightings the device has advanced by what they show, or by less than one count
 * more or less where no edge was awaited; and the counter by what lies between the brackets, or
 * between their far ends.
 */
static void narrow_by(const struct device_sighting *early, const struct device_sighting *late,
                      double slack, double *low, double *high)
{
    double counts = (double)(late->count - early->count);
    double least = ticks_since(early, late->before) - (double)width_of(early);
    double most = ticks_since(early, late->after);
    *low = fmax(*low, least / (counts + slack));
    if (counts > slack)
        *high = fmin(*high, most / (counts - slack));
}

void device_fit(const struct device_sighting *sightings, unsigned count, int has_edges,
                struct timebase_bench_fit *out)
{
    double low = 0, high = INFINITY;
    memset(out, 0, sizeof(*out));
    out->kept = count;
    if (count < COUNT_MIN || sightings[count - 1].count == sightings[0].count)
        return;
    take_residuals(sightings, count, out);
    for (unsigned i = 0; i < count; i++) {
        out->bracket_ticks = fmax(out->bracket_ticks, (double)width_of(&sightings[i]));
        for (unsigned j = i + 1; j < count; j++)
            narrow_by(&sightings[i], &sightings[j], has_edges ? 0 : 1, &low, &high);
    }
    out->has_rate = low <= high && high < INFINITY;
    if (!out->has_rate)
        return;
    out->ticks_per_count = fmin(fmax(out->ticks_per_count, low), high);
    out->error_ticks_per_count = fmax(high - out->ticks_per_count, out->ticks_per_count - low);
}
