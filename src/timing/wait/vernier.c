/* SPDX-License-Identifier: MIT */
#include "vernier.h"

enum { PAD_STEP = 1 };      /* instructions: approach_x86_64.S, read_vernier */
#define MOST_AT_ONCE 0.0005 /* interruptions lengthen a series by any amount */

int vernier_intersect(const struct vernier *vernier, const uint32_t *readings, uint32_t base,
                      struct timebase_fine_reading *out)
{
    double low = (double)(int32_t)(readings[0] - base), high = low + vernier->step_ticks;
    int used = 1;
    for (; used < vernier->readings; used++) {
        double end = (double)(int32_t)(readings[used] - base) - vernier->offsets[used];
        double tighter_low = end > low ? end : low;
        double tighter_high = end + vernier->step_ticks < high ? end + vernier->step_ticks : high;
        if (tighter_low > tighter_high)
            break;
        low = tighter_low;
        high = tighter_high;
    }
    out->ticks = (low + high - 1) / 2; /* whole ticks: see half_step_ticks */
    out->bound_ticks = (high - low) / 2;
    return used == 1 && vernier->readings > 1;
}

void vernier_add(struct vernier_sums *sums, const uint32_t readings[APPROACH_FINE])
{
    for (int k = 0; k < APPROACH_FINE; k++)
        sums->elapsed[k] += (double)(readings[k] - readings[0]);
    sums->count++;
}

/* Least squares of y = a k + b p(k). */
int vernier_fit(struct vernier *vernier, const struct vernier_sums *sums)
{
    double kk = 0, kp = 0, pp = 0, ky = 0, py = 0;
    if (sums->count == 0)
        return 1;
    for (int k = 1; k < APPROACH_FINE; k++) {
        double pads = PAD_STEP * k * (k - 1) / 2.0, y = sums->elapsed[k] / sums->count;
        kk += (double)k * k;
        kp += k * pads;
        pp += pads * pads;
        ky += k * y;
        py += pads * y;
    }
    double determinant = kk * pp - kp * kp;
    double spacing = (ky * pp - py * kp) / determinant;
    double pad = (py * kk - ky * kp) / determinant;
    if (spacing <= 0 || pad < 0)
        return 1;
    for (int k = 0; k < APPROACH_FINE; k++)
        vernier->offsets[k] = spacing * k + pad * (PAD_STEP * k * (k - 1) / 2.0);
    return 0;
}

void vernier_follow(struct vernier *vernier, const uint32_t *readings, int n)
{
    double low = 0, high = vernier->step_ticks, factor;
    int lowest = 0, highest = 0; /* which reading set these ends */
    for (int k = 1; k < n; k++) {
        double end = (double)(int32_t)(readings[k] - readings[0]) - vernier->offsets[k];
        lowest = end > low ? k : lowest;
        low = end > low ? end : low;
        highest = end + vernier->step_ticks < high ? k : highest;
        high = end + vernier->step_ticks < high ? end + vernier->step_ticks : high;
    }
    if (low <= high)
        return;
    factor = (low - high) / (vernier->offsets[lowest] - vernier->offsets[highest]) / 8;
    factor = factor < -MOST_AT_ONCE ? -MOST_AT_ONCE : factor;
    factor = factor > MOST_AT_ONCE ? MOST_AT_ONCE : factor;
    for (int k = 0; k < APPROACH_FINE; k++)
        vernier->offsets[k] *= 1 + factor;
}
