/* SPDX-License-Identifier: MIT */
#include "contradiction.h"

#include <time.h>

#include "clock/counter/readable.h"
#include "court.h"

/* The quickest of so many is hardly slower than that of thousands, where nobody holds them up. */
#define THROWS 64
/* A CPU that is busy is passed by. */
#define PAIR_NS 1000000

static bool has_lines(const struct timebase_cpus *cpus, unsigned which)
{
    const struct by_cpu_table *table = cpus->table;
    unsigned number = (unsigned)cpus->map.cpus[which].number;
    return number < table->cpus && table->copy[table->seq & 1].entries[number].is_known != 0;
}

/* Whom it was measured against. */
static unsigned parent_of(const struct skew_map *map, unsigned which)
{
    return skew_find(map, map->cpus[which].against);
}

/* Both read by lines: 0 lies within what their readings differ by. */
static bool is_contradicted(const struct timebase_cpus *cpus, unsigned which)
{
    struct court_score seen;
    unsigned parent = parent_of(&cpus->map, which);
    if (!has_lines(cpus, which) || !has_lines(cpus, parent))
        return false;
    enum court_result result = court_compare(cpus->map.cpus[parent].number,
                                             cpus->map.cpus[which].number, THROWS, PAIR_NS, &seen);
    return result == COURT_PLAYED && (seen.range.low_ticks > 0 || seen.range.high_ticks < 0);
}

static bool is_doubted(const struct skew_cpu *cpu)
{
    return cpu->drift.count == 0;
}

/*
 * The CPU that its parent contradicts has jumped; unless that one contradicts its own parent, up to the
 * reference CPU. Then it may be right, and another measurement tells.
 */
static void doubt(struct timebase_cpus *cpus, unsigned which)
{
    unsigned parent = parent_of(&cpus->map, which);
    if (parent > 0 && !is_doubted(&cpus->map.cpus[parent]) && is_contradicted(cpus, parent))
        doubt(cpus, parent);
    skew_doubt(&cpus->map.cpus[which], parent == 0 || !is_doubted(&cpus->map.cpus[parent]));
    cpus->contradictions++;
}

bool contradiction_look(struct timebase_cpus *cpus, int64_t budget_ns)
{
    int64_t end_ns = counter_clock_ns(CLOCK_MONOTONIC) + budget_ns;
    uint64_t before = cpus->contradictions;
    unsigned which = contradiction_is_through(cpus) ? 1 : cpus->looked_at + 1;
    for (; which < cpus->map.count; which++) {
        cpus->looked_at = which;
        if (!is_doubted(&cpus->map.cpus[which]) && is_contradicted(cpus, which))
            doubt(cpus, which);
        if (counter_clock_ns(CLOCK_MONOTONIC) >= end_ns)
            break;
    }
    return cpus->contradictions != before;
}

bool contradiction_is_through(const struct timebase_cpus *cpus)
{
    return cpus->looked_at + 1 >= cpus->map.count;
}
