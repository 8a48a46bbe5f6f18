/* SPDX-License-Identifier: MIT */
/*
 * correct: the table by which this process reads the counter (clock/counter/by_cpu.h), made from
 * what was measured, and kept. The argument that nothing goes back is in
 * docs/decisions/0017-corrected-by-cpu.md.
 */
#include "correct.h"

#include <time.h>

#include <timebase/counter.h>
#include <timebase/error.h>

#include "clock/counter/by_cpu.h"
#include "clock/counter/probe.h"
#include "contradiction.h"
#include "drift.h"
#include "handle.h"
#include "publication.h"

/* So often at first, with rests in which CPUs go idle: a counter that stops then is found out. */
enum { FIRST_MEASUREMENTS = 6, REST_NS = 60000000 };
#define AGAIN_NS 10000000000
#define AGAIN_FAILED_NS 1000000000 /* of a renewal: the lines in force end */
/* So often it is looked whether the lines in force still show what they should. */
#define LOOK_NS 500000000
/* Of a large machine some CPUs are looked at each time, so that it takes no more than a tenth of a CPU. */
#define LOOK_BUDGET_NS 10000000
#define LOOK_REST_NS 100000000
/* From one round of a measurement to the next. */
#define ROUND_REST_NS 2000000

static bool is_kernels_own(void)
{
    struct counter_clocksource seen = {"", "", 0};
    counter_look_at_clocksource(&seen, 0, 0);
    return counter_judge_clocksource((int)TIMEBASE_ARCH_COUNTER, seen.current, seen.available) !=
        COUNTER_OPINION_DISTRUSTS;
}

static bool agree(const struct skew_map *map)
{
    for (unsigned i = 1; i < map->count; i++) {
        const struct skew_cpu *cpu = &map->cpus[i];
        struct drift_rate slopes = drift_of(&cpu->drift);
        if (cpu->is_contradictory || cpu->jumps > 0 || publication_rate(&slopes) != 0)
            return false;
        if (cpu->is_measured && (cpu->range.low_ticks > 0 || cpu->range.high_ticks < 0))
            return false;
    }
    return true;
}

/* ---- the table ----------------------------------------------------------------------------- */

bool correct_adopt(timebase_cpus *cpus, const struct by_cpu_file_head *head,
                   const struct by_cpu_file_copy *copy)
{
    if (cpus->table != NULL || head->reference_cpu != (unsigned)cpus->map.cpus[0].number ||
        !publication_make_table(cpus))
        return false;
    struct by_cpu_copy *next = by_cpu_next(cpus->table);
    for (unsigned i = 0; i < head->cpus && i < cpus->table->cpus; i++)
        by_cpu_set_entry(next, i, &copy->entries[i]);
    by_cpu_set_anchor(next, &copy->anchor);
    by_cpu_set_spread(cpus->table, copy->spread_ticks);
    by_cpu_publish(cpus->table);
    return true;
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

/* anchor: NULL where none is needed. */
static int measure_first(struct timebase_cpus *cpus, struct by_cpu_anchor *anchor)
{
    const struct timespec rest = {.tv_nsec = REST_NS};
    enum anchor_result result = anchor != NULL ? ANCHOR_TOO_YOUNG : ANCHOR_TAKEN;
    for (int i = 0; i < FIRST_MEASUREMENTS || result == ANCHOR_TOO_YOUNG; i++) {
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

/* ---- a renewal ----------------------------------------------------------------------------- */

/* With what was measured. */
static int conclude(struct timebase_cpus *cpus, int measured, bool is_own,
                    const struct by_cpu_anchor *anchor, int64_t *again_ns)
{
    if (measured != TIMEBASE_OK)
        return measured;
    if (is_own)
        return agree(&cpus->map) ? TIMEBASE_CPUS_AGREE : TIMEBASE_E_REFERENCE;
    if (cpus->table == NULL && !publication_make_table(cpus))
        return TIMEBASE_E_RESOURCE;
    if (cpus->map.cpus[0].number != cpus->reference_cpu)
        return TIMEBASE_E_DISRUPTED;
    return publication_renew(cpus, anchor, again_ns);
}

static int begin(struct timebase_cpus *cpus, int64_t *again_ns)
{
    struct by_cpu_anchor anchor;
    bool is_own = is_kernels_own();
    *again_ns = AGAIN_NS;
    int measured = measure_first(cpus, is_own ? NULL : &anchor);
    return conclude(cpus, measured, is_own, &anchor, again_ns);
}

static int renew(struct timebase_cpus *cpus, int64_t *again_ns)
{
    struct by_cpu_anchor anchor;
    bool is_own = is_kernels_own();
    enum anchor_result taken =
        is_own ? ANCHOR_TAKEN : anchor_take(&cpus->anchor, cpus->map.cpus[0].number, &anchor);
    *again_ns = AGAIN_FAILED_NS;
    return conclude(cpus, error_of(taken), is_own, &anchor, again_ns);
}

/* Until the next renewal. Ticks that have gone back have passed far more than all. */
static int64_t left_ns(const struct timebase_cpus *cpus)
{
    uint64_t passed_ticks = timebase_ticks_ordered() - cpus->renewed_ticks;
    double share = (double)passed_ticks / ((double)cpus->lasting_ticks + 1);
    return share < 1 ? (int64_t)((double)cpus->lasting_ns * (1 - share)) : 0;
}

/* A caller may have a rhythm of its own, and come again only when the lines have ended: it is a little
 * early instead. */
static bool is_due(const struct timebase_cpus *cpus)
{
    int64_t early_ns = cpus->lasting_ns < LOOK_NS ? cpus->lasting_ns / 2 : LOOK_NS / 2;
    return cpus->is_doubted || left_ns(cpus) <= early_ns;
}

static int64_t next_look_ns(const struct timebase_cpus *cpus)
{
    int64_t rest_ns = contradiction_is_through(cpus) ? LOOK_NS : LOOK_REST_NS;
    int64_t left = left_ns(cpus);
    return left < rest_ns ? left : rest_ns;
}

/* What is measured from here on is new. Until that is through, who was away and who has contradicted an
 * order is not read by lines. */
static void begin_to_measure(struct timebase_cpus *cpus)
{
    cpus_begin(cpus);
    cpus->is_measuring = true;
    cpus->is_doubted = false;
    cpus->left_ns = cpus_whole_ns(cpus);
    publication_withdraw(cpus);
}

/* False: all is as it should be, as far as has been looked. Readings are compared also before a
 * measurement that is due: a step may pass for a drift there. */
static bool is_wanted(struct timebase_cpus *cpus, int64_t budget_ns)
{
    if (skew_is_outdated(&cpus->map))
        return true;
    int64_t look_ns = budget_ns < LOOK_BUDGET_NS ? budget_ns : LOOK_BUDGET_NS;
    bool is_contradicted = contradiction_look(cpus, look_ns);
    return is_contradicted || is_due(cpus);
}

int correct_for(timebase_cpus *cpus, int64_t budget_ns, int64_t *again_ns)
{
    if (!by_cpu_is_possible())
        return TIMEBASE_E_UNSUPPORTED;
    if (!publication_is_in_force(cpus))
        return begin(cpus, again_ns);
    if (!cpus->is_measuring) {
        if (!is_wanted(cpus, budget_ns)) {
            *again_ns = next_look_ns(cpus);
            return TIMEBASE_OK;
        }
        begin_to_measure(cpus);
    }
    *again_ns = ROUND_REST_NS;
    cpus->left_ns -= budget_ns;
    if (!cpus_go_on(cpus, budget_ns) && cpus->left_ns > 0)
        return TIMEBASE_OK;
    cpus->is_measuring = false;
    int result = renew(cpus, again_ns);
    cpus->is_doubted = cpus->is_doubted || result != TIMEBASE_OK;
    return result;
}

void correct_doubt(timebase_cpus *cpus)
{
    cpus->is_doubted = true;
}

TIMEBASE_API int timebase_cpus_correct(timebase_cpus *cpus, int64_t *again_ns)
{
    if (cpus == NULL || again_ns == NULL)
        return TIMEBASE_E_INVALID;
    return correct_for(cpus, cpus_whole_ns(cpus), again_ns);
}
