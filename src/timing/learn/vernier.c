/* SPDX-License-Identifier: MIT */
#include "vernier.h"

#include "quantile.h"

enum { PART_BITS = 16 }; /* of a tick, behind the point */

static int64_t parts_of(double ticks)
{
    return (int64_t)(ticks * (1 << PART_BITS) + 0.5);
}

static double ticks_of(int64_t parts)
{
    return (double)parts / (1 << PART_BITS);
}

void vernier_init(struct vernier *vernier, double step_ticks)
{
    int is_rounded = step_ticks != (double)(int64_t)step_ticks;
    *vernier = (struct vernier){
        .step_ticks = step_ticks, .span_ticks = step_ticks - !is_rounded, .readings = 1};
}

/* A number that the compiler does not know, so that it puts no branch where it has a certain value. */
static inline int opaque(int value)
{
    __asm__("" : "+r"(value));
    return value;
}

/* ---- which spacing ------------------------------------------------------------------------- */

enum { CANDIDATES = 3 };

/*
 * The two that are nearest to the slope of the readings; and the slope itself, first of all if it
 * is near none: something else uses the core. Where it is far off they were held up somewhere: the
 * usual one, and its neighbours.
 */
static void find_candidates(const struct vernier *vernier, const uint32_t *readings, int n,
                            int64_t candidates[CANDIDATES])
{
    enum { MOST = 4, MANY = 1 << 20 };
    int64_t usual = parts_of(vernier->spacing_ticks), mode = parts_of(vernier->mode_ticks);
    candidates[0] = candidates[1] = candidates[2] = usual;
    if (mode == 0 || n == 1)
        return;
    int64_t slope = parts_of(vernier_slope(readings, n));
    int is_far = slope - usual > MOST * mode || usual - slope > MOST * mode;
    double modes = is_far ? 0 : (double)(slope - usual) / (double)mode;
    int64_t nearest = usual + ((int64_t)(modes + MANY + 0.5) - MANY) * mode;
    int64_t sign = slope < nearest ? -1 : 1, off = sign * (slope - nearest);
    int is_near = is_far || 4 * off <= mode;
    candidates[0] = is_near ? nearest : slope;
    candidates[1] = nearest + sign * mode;
    candidates[2] = is_far ? nearest - sign * mode : is_near ? slope : nearest;
}

/* ---- by one spacing ------------------------------------------------------------------------ */

/* When a reading at one end was taken, by those from it on that agree. Parts of a tick. */
struct fit {
    int64_t low, high;
    int64_t spacing;
    int used, agree; /* all bits, until one contradicts those before it */
};

/* `reading` is k of `spacing` behind that at the end; negative: before it. */
static inline void narrow(struct fit *fit, int64_t reading, int64_t step, int k)
{
    int64_t from = reading - k * fit->spacing;
    int64_t tighter_low = from > fit->low ? from : fit->low;
    int64_t tighter_high = from + step < fit->high ? from + step : fit->high;
    fit->agree = opaque(fit->agree & -(tighter_low <= tighter_high));
    fit->low += (tighter_low - fit->low) & fit->agree;
    fit->high += (tighter_high - fit->high) & fit->agree;
    fit->used -= fit->agree;
}

static inline void prefer(struct fit *fit, const struct fit *other)
{
    int64_t better = -(int64_t)opaque(other->used > fit->used);
    fit->low += (other->low - fit->low) & better;
    fit->high += (other->high - fit->high) & better;
    fit->spacing += (other->spacing - fit->spacing) & better;
    fit->used += (other->used - fit->used) & (int)better;
}

enum end { FROM_FIRST, FROM_LAST };

static inline int64_t reading_of(const uint32_t *readings, int i, uint32_t base)
{
    return (int64_t)(int32_t)(readings[i] - base) * (1 << PART_BITS);
}

/*
 * By all spacings at once, and from here on without a branch that depends on the readings. Else what
 * comes behind a fine reading begins sooner or later, and a thread that reads twice sees that.
 */
static struct fit fit_readings(const struct vernier *vernier, const uint32_t *readings, int n,
                               uint32_t base, enum end end)
{
    int64_t step = parts_of(vernier->span_ticks + 1), spacings[CANDIDATES];
    int at = end == FROM_FIRST ? 0 : n - 1, next = end == FROM_FIRST ? 1 : -1;
    int64_t low = reading_of(readings, at, base);
    find_candidates(vernier, readings, n, spacings);
    struct fit fits[CANDIDATES];
    for (int i = 0; i < CANDIDATES; i++)
        fits[i] = (struct fit){low, low + step, next * spacings[i], 1, -1};
    for (int k = 1; k < n; k++) {
        int64_t reading = reading_of(readings, at + next * k, base);
        narrow(&fits[0], reading, step, k);
        narrow(&fits[1], reading, step, k);
        narrow(&fits[2], reading, step, k);
    }
    prefer(&fits[0], &fits[1]);
    prefer(&fits[0], &fits[2]);
    return fits[0];
}

/* Whole ticks: see span_ticks. */
static double middle_of(const struct fit *fit)
{
    return (ticks_of(fit->low + fit->high) - 1) / 2;
}

int vernier_intersect(const struct vernier *vernier, const uint32_t *readings, int n, uint32_t base,
                      struct timebase_fine_reading *out)
{
    struct fit best = fit_readings(vernier, readings, n, base, FROM_FIRST);
    out->ticks = middle_of(&best);
    out->bound_ticks = ticks_of(best.high - best.low) / 2;
    return best.used;
}

double vernier_last(const struct vernier *vernier, const uint32_t *readings, int n, uint32_t base)
{
    struct fit best = fit_readings(vernier, readings, n, base, FROM_LAST);
    return middle_of(&best);
}

/* ---- spacings ------------------------------------------------------------------------------ */

/* Least squares: the sum of (k - (n - 1) / 2)^2 is n (n^2 - 1) / 12. */
double vernier_slope(const uint32_t *readings, int n)
{
    int64_t sum = 0;
    for (int k = 1; k < n; k++)
        sum += (int64_t)(2 * k - (n - 1)) * (int32_t)(readings[k] - readings[0]);
    return 6.0 * (double)sum / ((double)n * ((double)n * n - 1));
}

enum { MOST_GAPS = 64 };

/* Between the phases of n readings in their order, the last one to the first of the next step. Returns how
 * many there are. */
static int find_gaps(double step_ticks, double spacing_ticks, int n, double gaps[MOST_GAPS])
{
    double phases[MOST_GAPS];
    n = n < MOST_GAPS ? n : MOST_GAPS;
    for (int k = 0; k < n; k++) {
        double steps = k * spacing_ticks / step_ticks;
        phases[k] = (steps - (double)(int64_t)steps) * step_ticks;
    }
    quantile_sort(phases, n);
    for (int k = 0; k < n; k++)
        gaps[k] = (k + 1 < n ? phases[k + 1] : phases[0] + step_ticks) - phases[k];
    return n;
}

double vernier_gap(double step_ticks, double spacing_ticks, int n)
{
    double gaps[MOST_GAPS], widest = 0;
    n = find_gaps(step_ticks, spacing_ticks, n, gaps);
    for (int k = 0; k < n; k++)
        widest = gaps[k] > widest ? gaps[k] : widest;
    return widest;
}

/* A gap that is twice as wide leaves twice as much open, and for twice as many instants. */
double vernier_open(double step_ticks, double spacing_ticks, int n)
{
    double gaps[MOST_GAPS], squares = 0;
    n = find_gaps(step_ticks, spacing_ticks, n, gaps);
    for (int k = 0; k < n; k++)
        squares += gaps[k] * gaps[k];
    return squares / step_ticks;
}

double vernier_open_of_few(double step_ticks, double spacing_ticks)
{
    enum { FEWEST = 2 };
    double sum = 0;
    for (int n = FEWEST; n <= VERNIER_FEW; n++)
        sum += vernier_open(step_ticks, spacing_ticks, n);
    return sum / (VERNIER_FEW - FEWEST + 1);
}

void vernier_note_open(struct vernier *vernier, int n)
{
    double step = vernier->step_ticks;
    for (int k = 0; k < VERNIER_PHASES; k++) {
        double spacing = step * k / VERNIER_PHASES;
        vernier->open[VERNIER_SERIES][k] = (float)vernier_gap(step, spacing, n);
        vernier->open[VERNIER_POLLS][k] = (float)vernier_open_of_few(step, spacing);
    }
}

static double noted_open(const struct vernier *vernier, enum vernier_use use, double spacing_ticks)
{
    double steps = spacing_ticks / vernier->step_ticks;
    double part = steps - (double)(int64_t)steps;
    return (double)vernier->open[use][(int)(part * VERNIER_PHASES + 0.5) % VERNIER_PHASES];
}

int vernier_choose(const struct vernier *vernier, enum vernier_use use, double base_ticks,
                   double more_ticks, int count, int present)
{
    static const double worth_it[VERNIER_USES] = {[VERNIER_SERIES] = 0.5, [VERNIER_POLLS] = 0.95};
    int best = 0;
    double least = noted_open(vernier, use, base_ticks);
    for (int i = 1; i < count; i++) {
        double open = noted_open(vernier, use, base_ticks + i * more_ticks);
        best = open < least ? i : best;
        least = open < least ? open : least;
    }
    double now = noted_open(vernier, use, base_ticks + present * more_ticks);
    return least < now * worth_it[use] ? best : present;
}
