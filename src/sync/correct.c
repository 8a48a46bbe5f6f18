/* SPDX-License-Identifier: MIT */
/*
 * correct: the table by which this process reads the counter (clock/counter/by_cpu.h), made from
 * what was measured, and kept. The argument that nothing goes back is in
 * docs/decisions/0017-corrected-by-cpu.md.
 */
#include <timebase/cpus.h>

#include <stdlib.h>
#include <time.h>

#include <timebase/counter.h>
#include <timebase/error.h>
#include <timebase/page.h>

#include "clock/counter/by_cpu.h"
#include "clock/counter/probe.h"
#include "correction.h"
#include "drift.h"
#include "handle.h"

/* So often at first, with rests in which CPUs go idle: a counter that stops then is found out. */
enum { FIRST_MEASUREMENTS = 6, REST_NS = 60000000 };
/* The number of a CPU as by_cpu_read() knows it has 12 bits. */
enum { TABLE_CPUS_MAX = 4096 };
/* New lines begin so much after they are planned; twice as much if they were not ready in time. */
#define LEAD_NS 20000000
#define PLAN_ATTEMPTS 6
/* The quickest ways there and back, between any two CPUs of one machine, take no longer. */
#define WIDTH_NS 4000
/* A drift goes on as it was for so long without a measurement; then nothing is known. */
#define STALE_NS 30e9
#define AGAIN_MIN_NS 100000000
#define AGAIN_MAX_NS 10000000000
/* What a drift that is not known exactly may come to before the next measurement. */
#define DRIFTED_TICKS 50

static bool is_kernels_own(void)
{
    struct counter_clocksource seen = {"", "", 0};
    counter_look_at_clocksource(&seen, 0, 0);
    return counter_judge_clocksource((int)TIMEBASE_ARCH_COUNTER, seen.current, seen.available) !=
        COUNTER_OPINION_DISTRUSTS;
}

/* ---- what is known of a CPU ---------------------------------------------------------------- */

static const struct skew_measurement *last_of(const struct skew_drift *drift)
{
    return &drift->points[drift->count - 1];
}

/* Counters mostly share a crystal: no drift, as long as none is possible. */
static double rate_of(const struct drift_rate *slopes)
{
    return slopes->low > 0 || slopes->high < 0 ? (slopes->low + slopes->high) / 2 : 0;
}

static bool agree(const struct skew_map *map)
{
    for (unsigned i = 1; i < map->count; i++) {
        const struct skew_cpu *cpu = &map->cpus[i];
        struct drift_rate slopes = drift_of(&cpu->drift);
        if (cpu->is_contradictory || cpu->jumps > 0 || rate_of(&slopes) != 0)
            return false;
        if (cpu->is_measured && (cpu->range.low_ticks > 0 || cpu->range.high_ticks < 0))
            return false;
    }
    return true;
}

/* ---- the table ----------------------------------------------------------------------------- */

static bool make_table(struct timebase_cpus *cpus)
{
    unsigned count = (unsigned)cpus->map.cpus[cpus->map.count - 1].number + 1;
    int *present = malloc(SKEW_CPUS * sizeof(present[0]));
    unsigned presents = present != NULL ? skew_list_present(present) : 0;
    if (presents > 0 && (unsigned)present[presents - 1] >= count)
        count = (unsigned)present[presents - 1] + 1;
    free(present);
    count = count < TABLE_CPUS_MAX ? count : TABLE_CPUS_MAX;
    struct by_cpu_table *table = calloc(1, sizeof(*table));
    struct by_cpu_entry *entries = calloc(2 * (size_t)count, sizeof(*entries));
    if (table == NULL || entries == NULL) {
        free(table);
        free(entries);
        return false;
    }
    table->cpus = count;
    table->copy[0].entries = entries;
    table->copy[1].entries = entries + count;
    cpus->table = table;
    cpus->reference_cpu = cpus->map.cpus[0].number;
    return true;
}

struct turn {
    uint64_t now, from;    /* ticks of the reference */
    double ticks_per_ns;
    uint64_t worst_ticks;  /* the furthest that a corrected counter may be off the reference */
    double worst_slope;    /* and the largest doubt about a drift */
};

/* Is it known well enough, and its drift until the next lines but one have begun? */
static bool is_steady(const struct skew_cpu *cpu, const struct turn *turn)
{
    if (cpu->jumps > 0 || cpu->drift.count < 2 || !skew_is_settled(&cpu->narrowest))
        return false;
    struct drift_rate slopes = drift_of(&cpu->drift);
    double age = (double)(int64_t)(turn->now - last_of(&cpu->drift)->ticks);
    double narrowest = (double)cpu->narrowest.first_ticks;
    double doubt = (slopes.high - slopes.low) / 2 * (AGAIN_MIN_NS + LEAD_NS) * turn->ticks_per_ns;
    return age < STALE_NS * turn->ticks_per_ns && doubt <= narrowest / 2 &&
        narrowest <= WIDTH_NS * turn->ticks_per_ns;
}

static void plan_cpu(const struct skew_cpu *cpu, const struct by_cpu_entry *present,
                     struct by_cpu_entry *next, struct turn *turn)
{
    uint64_t off_ticks;
    const struct skew_measurement *last = last_of(&cpu->drift);
    struct drift_rate slopes = drift_of(&cpu->drift);
    struct correction_measured measured = {.ticks = last->ticks,
                                           .range = last->range,
                                           .is_rough = skew_width(&last->range) / 3 * 2 >
                                               cpu->narrowest.first_ticks,
                                           .rate = rate_of(&slopes)};
    correction_plan(present, &measured, turn->now, turn->from, next, &off_ticks);
    if (next->is_known == 0)
        return;
    double doubt = (slopes.high - slopes.low) / 2;
    uint64_t worst = skew_width(&last->range) / 2 + 1 + off_ticks;
    turn->worst_ticks = worst > turn->worst_ticks ? worst : turn->worst_ticks;
    turn->worst_slope = doubt > turn->worst_slope ? doubt : turn->worst_slope;
}

static void plan(struct timebase_cpus *cpus, struct by_cpu_copy *next, struct turn *turn)
{
    const struct by_cpu_copy *present = &cpus->table->copy[cpus->table->seq & 1];
    const struct by_cpu_entry unknown = {.is_known = 0};
    for (unsigned i = 0; i < cpus->table->cpus; i++)
        by_cpu_set_entry(next, i, &unknown);
    for (unsigned i = 0; i < cpus->map.count; i++) {
        const struct skew_cpu *cpu = &cpus->map.cpus[i];
        unsigned number = (unsigned)cpu->number;
        struct by_cpu_entry entry = {.is_known = i == 0};
        if (number >= cpus->table->cpus)
            continue;
        if (i > 0 && is_steady(cpu, turn))
            plan_cpu(cpu, &present->entries[number], &entry, turn);
        by_cpu_set_entry(next, number, &entry);
    }
}

/* The sooner, the less is known of the drift. */
static int64_t next_ns(const struct turn *turn)
{
    double ns = DRIFTED_TICKS / (turn->worst_slope + 1e-12) / turn->ticks_per_ns;
    return ns < AGAIN_MIN_NS ? AGAIN_MIN_NS : ns > AGAIN_MAX_NS ? AGAIN_MAX_NS : (int64_t)ns;
}

/* The reference's ticks. Lines that go on are those of a table in force. */
static uint64_t now_ticks(const struct timebase_cpus *cpus, const struct by_cpu_anchor *anchor)
{
    return counter_correction() == cpus->table ? timebase_ticks_ordered() : anchor->ticks;
}

/*
 * Into the next copy. Lines that begin before they are published would be a step, so they are planned
 * again if this thread was held up: three quarters of the lead are for that, the last is for
 * publishing.
 */
static struct turn plan_ahead(struct timebase_cpus *cpus, struct by_cpu_copy *next,
                              const struct by_cpu_anchor *anchor)
{
    struct turn turn;
    for (unsigned attempt = 0; attempt < PLAN_ATTEMPTS; attempt++) {
        double ticks_per_ns =
            (double)anchor->ticks_per_ns + (double)anchor->ticks_per_ns_frac / 0x1p64;
        uint64_t lead = (uint64_t)((double)((uint64_t)LEAD_NS << attempt) * ticks_per_ns);
        turn = (struct turn){.now = now_ticks(cpus, anchor), .ticks_per_ns = ticks_per_ns};
        turn.from = turn.now + lead;
        plan(cpus, next, &turn);
        if ((int64_t)(turn.from - lead / 4 - now_ticks(cpus, anchor)) > 0)
            break;
    }
    return turn;
}

static int renew(struct timebase_cpus *cpus, const struct by_cpu_anchor *anchor, int64_t *again_ns)
{
    struct by_cpu_copy *next = by_cpu_next(cpus->table);
    struct turn turn = plan_ahead(cpus, next, anchor);
    /* A CPU that loses its lines has told by them. */
    uint64_t told = timebase_page_word(&cpus->table->spread_ticks);
    *again_ns = next_ns(&turn);
    double drifted = turn.worst_slope * (double)*again_ns * turn.ticks_per_ns;
    uint64_t spread = 2 * (turn.worst_ticks + (uint64_t)drifted);
    struct by_cpu_anchor wider = *anchor;
    wider.error_ns += (uint64_t)((double)(spread > told ? spread : told) / turn.ticks_per_ns) + 1;
    by_cpu_set_anchor(next, &wider);
    by_cpu_set_spread(cpus->table, spread);
    by_cpu_publish(cpus->table);
    return counter_correction() == cpus->table ? TIMEBASE_OK : counter_correct(cpus->table);
}

/* ---- measuring ----------------------------------------------------------------------------- */

static int error_of(enum anchor_result result)
{
    switch (result) {
    case ANCHOR_TAKEN:
        return TIMEBASE_OK;
    case ANCHOR_REFUSED:
        return TIMEBASE_E_PERMISSION;
    default:
        return TIMEBASE_E_DISRUPTED;
    }
}

/* Often, the first time; anchor: NULL where none is needed. */
static int measure(struct timebase_cpus *cpus, struct by_cpu_anchor *anchor)
{
    const struct timespec rest = {.tv_nsec = REST_NS};
    int times = cpus->table == NULL ? FIRST_MEASUREMENTS : 1;
    enum anchor_result result = anchor != NULL ? ANCHOR_TOO_YOUNG : ANCHOR_TAKEN;
    for (int i = 0; i < times || result == ANCHOR_TOO_YOUNG; i++) {
        if (i > 0)
            nanosleep(&rest, NULL);
        int error = timebase_cpus_measure(cpus);
        if (error != TIMEBASE_OK)
            return error;
        if (anchor != NULL)
            result = anchor_take(&cpus->anchor, cpus->map.cpus[0].number, anchor);
        if (result == ANCHOR_REFUSED || result == ANCHOR_STOPS)
            break;
    }
    return error_of(result);
}

TIMEBASE_API int timebase_cpus_correct(timebase_cpus *cpus, int64_t *again_ns)
{
    struct by_cpu_anchor anchor;
    if (cpus == NULL || again_ns == NULL)
        return TIMEBASE_E_INVALID;
    if (!by_cpu_is_possible())
        return TIMEBASE_E_UNSUPPORTED;
    *again_ns = AGAIN_MAX_NS;
    bool is_own = is_kernels_own();
    int error = measure(cpus, is_own ? NULL : &anchor);
    if (error != TIMEBASE_OK)
        return error;
    if (is_own)
        return agree(&cpus->map) ? TIMEBASE_CPUS_AGREE : TIMEBASE_E_REFERENCE;
    if (cpus->table == NULL && !make_table(cpus))
        return TIMEBASE_E_RESOURCE;
    if (cpus->map.cpus[0].number != cpus->reference_cpu)
        return TIMEBASE_E_DISRUPTED;
    return renew(cpus, &anchor, again_ns);
}
