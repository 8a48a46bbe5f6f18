/* SPDX-License-Identifier: MIT */
#include "device_rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_fit.h"

/* Reads one after the other, for the cost; and the share of the time that they may take. */
enum { READS = 2000, READS_SHARE = 8, READS_MIN = 20 };
/* If one read in so many shows the count of the one before, a read is quicker than a count. The
 * counter's frequency, which may be wrong, has no part in it. */
enum { SAME_SHARE = 20 };
/* Sightings of each kind, spread over the time. */
enum { SIGHTINGS = 400 };
/* An edge comes within a count; then the device stands still. Slow ones are not read all the time. */
enum { EDGE_COUNTS_MAX = 5, EDGES_PASSED = 40, EDGES_TRIED = 5, LOOKS_PER_COUNT = 4096 };
/* Resting shorter than this is no rest. */
#define REST_MIN_SEC 50e-6

struct measurement {
    struct device *device;
    const struct device_outside *outside;
    uint64_t end_ticks;
    double count_ticks; /* of a count, as the device and outside->hz say */
    struct device_sighting last;
    uint64_t last_raw;
    uint64_t dice;
    unsigned count[2];
    struct device_sighting sightings[2][SIGHTINGS]; /* plain, edges */
};
_Static_assert((int)SIGHTINGS <= (int)DEVICE_SIGHTINGS, "device_narrow() has room for them");

static uint64_t now(const struct measurement *m)
{
    return m->outside->ticks(m->outside->context);
}

static int is_over(const struct measurement *m)
{
    return (int64_t)(now(m) - m->end_ticks) >= 0;
}

/* However many times it has wrapped meanwhile: the counter need be right to half a wrap only. */
static uint64_t advance_of(const struct measurement *m, uint64_t raw, uint64_t elapsed_ticks)
{
    uint64_t advance = (raw - m->last_raw) & device_mask(m->device->width);
    if (m->device->width >= 64)
        return advance;
    double wrap = ldexp(1, (int)m->device->width);
    double wraps = floor(((double)elapsed_ticks / m->count_ticks - (double)advance) / wrap + 0.5);
    return advance + (wraps > 0 ? (uint64_t)wraps << m->device->width : 0);
}

/* The newest sighting, whose bracket ends at `after`. */
static void take_up(struct measurement *m, uint64_t before, uint64_t after, uint64_t raw)
{
    m->last.count += advance_of(m, raw, before - m->last.before);
    m->last.before = before;
    m->last.after = after;
    m->last_raw = raw;
}

/* The device is read between two readings of the counter. */
static int look(struct measurement *m)
{
    uint64_t raw, before = now(m);
    int error = m->device->read(m->device, &raw);
    uint64_t after = now(m);
    if (error == TIMEBASE_OK)
        take_up(m, before, after, raw);
    return error;
}

/* ---- what a read costs --------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* Nothing is reckoned in between, or a count might pass while that is done. */
static int take_cost(struct measurement *m, uint64_t ticks, struct timebase_bench_timer *out)
{
    double took[READS];
    uint64_t start = now(m), before = start, raw, last_raw = ~m->last_raw;
    while (out->reads < READS && (out->reads < READS_MIN || before - start < ticks)) {
        int error = m->device->read(m->device, &raw);
        uint64_t after = now(m);
        if (error != TIMEBASE_OK)
            return error;
        out->same += raw == last_raw;
        took[out->reads++] = (double)(after - before);
        last_raw = raw;
        before = after;
    }
    qsort(took, out->reads, sizeof(took[0]), compare);
    out->least_ticks = took[0];
    out->read_ticks = took[out->reads / 2];
    out->slowest_ticks = took[(out->reads - 1) * 99 / 100];
    out->sees_edge = out->same * SAME_SHARE >= out->reads;
    return TIMEBASE_OK;
}

/* ---- sightings ----------------------------------------------------------------------------- */

/* From half to one and a half times the spacing; of slow counts any part, or all would be alike. */
static void rest(struct measurement *m, double spacing_ticks)
{
    m->dice = m->dice * 6364136223846793005u + 1442695040888963407u;
    double share = (double)(m->dice >> 11) / 9007199254740992.0;
    double range = fmax(spacing_ticks, m->count_ticks);
    m->outside->rest(m->outside->context, (uint64_t)(spacing_ticks / 2 + share * range));
}

static void keep(struct measurement *m, int is_edge)
{
    if (m->count[is_edge] < SIGHTINGS)
        m->sightings[is_edge][m->count[is_edge]++] = m->last;
}

/* The first look after a rest brings the code back into the caches. */
static int see_plainly(struct measurement *m)
{
    int error = look(m);
    if (error == TIMEBASE_OK)
        error = look(m);
    if (error == TIMEBASE_OK)
        keep(m, 0);
    return error;
}

/* Looks right after one another: the times are those between them, with no reckoning. */
struct looks {
    uint64_t before, between, after; /* the last two looks */
    uint64_t last_raw, raw;          /* what they showed */
};

static int look_again(struct measurement *m, struct looks *looks)
{
    looks->before = looks->between;
    looks->between = looks->after;
    looks->last_raw = looks->raw;
    int error = m->device->read(m->device, &looks->raw);
    looks->after = now(m);
    return error;
}

/* However long somebody was held up: if it shows the same after all these counts, it stands. */
static int await_change(struct measurement *m, struct looks *looks, uint64_t pause)
{
    uint64_t start = looks->after;
    int64_t limit = (int64_t)(EDGE_COUNTS_MAX * m->count_ticks);
    do {
        if (pause > 0)
            m->outside->rest(m->outside->context, pause);
        int error = look_again(m, looks);
        if (error != TIMEBASE_OK)
            return error;
        if (looks->raw == looks->last_raw && (int64_t)(looks->between - start) > limit)
            return device_fail(m->device, TIMEBASE_E_REFERENCE, "the timer stands still");
    } while (looks->raw == looks->last_raw);
    return TIMEBASE_OK;
}

/*
 * The edge lies between the look at the old count and the one at the new count, in the bracket of
 * both. If the device has moved by more than a count between two looks there was an edge that nobody
 * saw: then the next one is awaited.
 *
 * After a rest the caches are cold and looks are slow, so that quick counts are let pass for a while.
 */
static int see_edge(struct measurement *m)
{
    uint64_t pause = (uint64_t)(m->count_ticks / LOOKS_PER_COUNT);
    struct looks looks = {0};
    if ((double)pause < REST_MIN_SEC * m->outside->hz)
        pause = 0;
    int error = look_again(m, &looks), passed = pause > 0 ? 0 : EDGES_PASSED;
    for (int i = 0; i < passed + EDGES_TRIED && error == TIMEBASE_OK; i++) {
        error = await_change(m, &looks, pause);
        uint64_t advance = (looks.raw - looks.last_raw) & device_mask(m->device->width);
        if (error == TIMEBASE_OK && advance == 1 && i >= passed) {
            take_up(m, looks.before, looks.after, looks.raw);
            keep(m, 1);
            break;
        }
    }
    return error;
}

/* One at least, however long somebody was held up before: so that a timer that can be read is told of. */
static int take_sightings(struct measurement *m, uint64_t ticks, int sees_edge)
{
    double spacing_ticks = (double)ticks / SIGHTINGS;
    int error;
    do {
        rest(m, spacing_ticks);
        error = see_plainly(m);
        if (error == TIMEBASE_OK && sees_edge)
            error = see_edge(m);
    } while (error == TIMEBASE_OK && !is_over(m) && m->count[0] < SIGHTINGS);
    return error;
}

static void fit(struct measurement *m, int is_edge, struct timebase_bench_fit *out)
{
    unsigned taken = m->count[is_edge];
    unsigned kept = taken > 0 ? device_narrow(m->sightings[is_edge], taken) : 0;
    device_fit(m->sightings[is_edge], kept, is_edge, out);
    out->taken = taken;
}

int device_rate(struct device *device, const struct device_outside *outside, uint64_t ticks,
                struct timebase_bench_timer *out)
{
    struct measurement m = {
        .device = device, .outside = outside, .count_ticks = outside->hz / device->hz};
    memset(out, 0, sizeof(*out));
    out->hz = device->hz;
    m.last.before = now(&m);
    m.end_ticks = m.last.before + ticks;
    int error = look(&m);
    if (error == TIMEBASE_OK)
        error = take_cost(&m, ticks / READS_SHARE, out);
    if (error == TIMEBASE_OK)
        error = take_sightings(&m, ticks - ticks / READS_SHARE, out->sees_edge);
    if (error != TIMEBASE_OK)
        return error;
    fit(&m, 0, &out->plain);
    fit(&m, 1, &out->edge);
    if (m.count[0] > 1 && m.last.count == m.sightings[0][0].count)
        return device_fail(device, TIMEBASE_E_REFERENCE, "the timer stands still");
    return TIMEBASE_OK;
}
