/* SPDX-License-Identifier: MIT */
#include "publication.h"

#include <stdlib.h>

#include <timebase/counter.h>
#include <timebase/error.h>
#include <timebase/page.h>

#include "clock/counter/by_cpu_file.h"
#include "correction.h"

/* The quickest ways there and back, between any two CPUs of one machine, take no longer. */
#define WIDTH_NS 4000
/* So far off the reference may any lines be: half of a range half as wide again as the narrowest, and
 * a drift of half of that. Whoever reads the kernel's clock by this table may be followed by one who
 * reads by lines that begin in a later one. */
#define LINES_NS (WIDTH_NS / 4 * 5)
/* A drift goes on as it was for so long without a measurement; then nothing is known. */
#define STALE_NS 30e9
#define AGAIN_MIN_NS 100000000
#define AGAIN_MAX_NS 10000000000
/* For a CPU that was measured once: a second time, and it may have lines. */
#define AGAIN_NEW_NS 1000000000
/* Lines hold for so many times as long as they are meant to last: the next ones may be late. Below
 * 2, or those would end before the last of them has begun. */
#define HELD 1.5
/* The end of the reference CPU's own entry. */
#define CENTURY_TICKS ((uint64_t)1 << 62)
/* What a drift that is not known exactly may come to before the next measurement. */
#define DRIFTED_TICKS 50

static const struct skew_measurement *last_of(const struct skew_drift *drift)
{
    return &drift->points[drift->count - 1];
}

double publication_rate(const struct drift_rate *slopes)
{
    return slopes->low > 0 || slopes->high < 0 ? (slopes->low + slopes->high) / 2 : 0;
}

bool publication_make_table(struct timebase_cpus *cpus)
{
    unsigned count = (unsigned)cpus->map.cpus[cpus->map.count - 1].number + 1;
    int *present = malloc(SKEW_CPUS * sizeof(present[0]));
    unsigned presents = present != NULL ? skew_list_present(present) : 0;
    if (presents > 0 && (unsigned)present[presents - 1] >= count)
        count = (unsigned)present[presents - 1] + 1;
    free(present);
    count = count < BY_CPU_FILE_CPUS_MAX ? count : BY_CPU_FILE_CPUS_MAX;
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

/* Ticks are the reference CPU's. */
struct turn {
    double ticks_per_ns;
    uint64_t now, until;  /* new lines hold until then at most */
    uint64_t told_ticks;  /* worst_ticks of the lines in force */
    uint64_t worst_ticks; /* the furthest that a corrected counter is off the reference CPU's */
    int64_t least_ticks;  /* for so long all lines hold */
};

/* Is it known well enough? */
static bool is_steady(const struct skew_cpu *cpu, double ticks_per_ns)
{
    return cpu->jumps == 0 && cpu->drift.count >= 2 && skew_is_settled(&cpu->narrowest) &&
        (double)cpu->narrowest.first_ticks <= WIDTH_NS * ticks_per_ns;
}

/* Ticks per tick. */
static double doubt_of(const struct skew_cpu *cpu)
{
    struct drift_rate slopes = drift_of(&cpu->drift);
    return (slopes.high - slopes.low) / 2;
}

/* Until its drift may have come to a quarter of the narrowest range. With a half some readings go
 * back, where the quickest throws were slower than the way between the CPUs (decision 17). */
static uint64_t end_of(const struct skew_cpu *cpu, const struct turn *turn)
{
    double most = STALE_NS * turn->ticks_per_ns;
    double ticks = (double)cpu->narrowest.first_ticks / 4 / (doubt_of(cpu) + 1e-12);
    uint64_t end = last_of(&cpu->drift)->ticks + (uint64_t)(ticks < most ? ticks : most);
    return (int64_t)(end - turn->until) < 0 ? end : turn->until;
}

static void note_worst(struct turn *turn, uint64_t worst_ticks)
{
    turn->worst_ticks = worst_ticks > turn->worst_ticks ? worst_ticks : turn->worst_ticks;
}

static void note_end(struct turn *turn, const struct by_cpu_entry *entry)
{
    int64_t left = (int64_t)(by_cpu_entry_ticks(entry, entry->end_ticks) - turn->now);
    turn->least_ticks = left < turn->least_ticks ? left : turn->least_ticks;
}

static void plan_cpu(const struct skew_cpu *cpu, const struct by_cpu_entry *present,
                     struct by_cpu_entry *next, struct turn *turn)
{
    uint64_t off_ticks, until = end_of(cpu, turn);
    const struct skew_measurement *last = last_of(&cpu->drift);
    struct drift_rate slopes = drift_of(&cpu->drift);
    struct correction_measured measured = {.ticks = last->ticks,
                                           .range = last->range,
                                           .is_rough = skew_width(&last->range) / 3 * 2 >
                                               cpu->narrowest.first_ticks,
                                           .rate = publication_rate(&slopes)};
    enum correction_result result =
        correction_plan(present, &measured, turn->now, until, next, &off_ticks);
    if (next->is_known == 0)
        return;
    double drifted = doubt_of(cpu) * (double)(int64_t)(until - last->ticks);
    note_end(turn, next);
    note_worst(turn, result == CORRECTION_STAYS
                   ? turn->told_ticks
                   : skew_width(&last->range) / 2 + 1 + off_ticks + (uint64_t)drifted);
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
        struct by_cpu_entry entry = {.end_ticks = turn->now + CENTURY_TICKS, .is_known = i == 0};
        if (number >= cpus->table->cpus)
            continue;
        if (i > 0 && is_steady(cpu, turn->ticks_per_ns))
            plan_cpu(cpu, &present->entries[number], &entry, turn);
        by_cpu_set_entry(next, number, &entry);
    }
}

static int64_t next_ns(double ns)
{
    return ns < AGAIN_MIN_NS ? AGAIN_MIN_NS : ns > AGAIN_MAX_NS ? AGAIN_MAX_NS : (int64_t)ns;
}

/* It may have lines after the next measurement. */
static bool is_new(const struct skew_cpu *cpu)
{
    return cpu->is_measured && cpu->jumps == 0 && cpu->drift.count == 1;
}

/* The sooner, the less is known of the drift. */
static int64_t wanted_ns(const struct skew_map *map, double ticks_per_ns)
{
    double worst = 0, most = AGAIN_MAX_NS;
    for (unsigned i = 1; i < map->count; i++) {
        most = is_new(&map->cpus[i]) ? AGAIN_NEW_NS : most;
        if (is_steady(&map->cpus[i], ticks_per_ns) && doubt_of(&map->cpus[i]) > worst)
            worst = doubt_of(&map->cpus[i]);
    }
    double wanted = DRIFTED_TICKS / (worst + 1e-12) / ticks_per_ns;
    return next_ns(wanted < most ? wanted : most);
}

bool publication_is_in_force(const struct timebase_cpus *cpus)
{
    return cpus->table != NULL && counter_correction() == cpus->table;
}

/* The reference CPU's ticks. Lines that go on are those of a table in force. */
static uint64_t now_ticks(const struct timebase_cpus *cpus, const struct by_cpu_anchor *anchor)
{
    return publication_is_in_force(cpus) ? timebase_ticks_ordered() : anchor->ticks;
}

static double pace_of(const struct by_cpu_anchor *anchor)
{
    return (double)anchor->ticks_per_ns + (double)anchor->ticks_per_ns_frac / 0x1p64;
}

/* A CPU that loses its lines has told by them: their spread counts for one publication more. */
static void set_errors(struct by_cpu_table *table, struct by_cpu_copy *next,
                       const struct by_cpu_anchor *anchor, const struct turn *turn)
{
    uint64_t most = turn->worst_ticks > turn->told_ticks ? turn->worst_ticks : turn->told_ticks;
    struct by_cpu_anchor wider = *anchor;
    uint64_t told_ns = (uint64_t)((double)(2 * most) / turn->ticks_per_ns);
    wider.error_ns += (told_ns > LINES_NS ? told_ns : LINES_NS) + 1;
    by_cpu_set_anchor(next, &wider);
    by_cpu_set_spread(table, 2 * turn->worst_ticks);
}

int publication_renew(struct timebase_cpus *cpus, const struct by_cpu_anchor *anchor,
                      int64_t *again_ns)
{
    double ticks_per_ns = pace_of(anchor);
    double held_ticks = HELD * (double)wanted_ns(&cpus->map, ticks_per_ns) * ticks_per_ns;
    struct turn turn = {.ticks_per_ns = ticks_per_ns,
                        .now = now_ticks(cpus, anchor),
                        .told_ticks = timebase_page_word(&cpus->table->spread_ticks) / 2,
                        .least_ticks = (int64_t)held_ticks};
    turn.until = turn.now + (uint64_t)held_ticks;
    struct by_cpu_copy *next = by_cpu_next(cpus->table);
    plan(cpus, next, &turn);
    set_errors(cpus->table, next, anchor, &turn);
    by_cpu_publish(cpus->table);
    *again_ns = next_ns((double)turn.least_ticks / HELD / ticks_per_ns);
    cpus->renewals++;
    cpus->renewed_ticks = turn.now;
    cpus->lasting_ticks = (uint64_t)((double)*again_ns * ticks_per_ns);
    cpus->lasting_ns = *again_ns;
    return publication_is_in_force(cpus) ? TIMEBASE_OK : counter_correct(cpus->table);
}

/* ---- between two measurements -------------------------------------------------------------- */

/* Its lines in force stay so. */
static bool is_kept(const struct timebase_cpus *cpus, unsigned which)
{
    const struct skew_cpu *cpu = &cpus->map.cpus[which];
    const struct by_cpu_copy *present = &cpus->table->copy[cpus->table->seq & 1];
    return (unsigned)cpu->number < cpus->table->cpus &&
        present->entries[cpu->number].is_known != 0 &&
        (cpu->number == cpus->reference_cpu || (cpu->jumps == 0 && cpu->drift.count > 0));
}

static bool are_all_kept(const struct timebase_cpus *cpus)
{
    const struct by_cpu_copy *present = &cpus->table->copy[cpus->table->seq & 1];
    unsigned known = 0, kept = 0;
    for (unsigned i = 0; i < cpus->table->cpus; i++)
        known += present->entries[i].is_known != 0;
    for (unsigned i = 0; i < cpus->map.count; i++)
        kept += is_kept(cpus, i);
    return kept == known;
}

/* The anchor's error has what the present lines are uncertain by in it already. */
void publication_withdraw(struct timebase_cpus *cpus)
{
    const struct by_cpu_copy *present = &cpus->table->copy[cpus->table->seq & 1];
    const struct by_cpu_entry unknown = {.is_known = 0};
    if (are_all_kept(cpus))
        return;
    struct by_cpu_copy *next = by_cpu_next(cpus->table);
    for (unsigned i = 0; i < cpus->table->cpus; i++)
        by_cpu_set_entry(next, i, &unknown);
    for (unsigned i = 0; i < cpus->map.count; i++) {
        unsigned number = (unsigned)cpus->map.cpus[i].number;
        if (is_kept(cpus, i))
            by_cpu_set_entry(next, number, &present->entries[number]);
    }
    by_cpu_set_anchor(next, &present->anchor);
    by_cpu_publish(cpus->table);
}
