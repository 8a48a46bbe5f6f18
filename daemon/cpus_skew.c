/* SPDX-License-Identifier: MIT */
#include "cpus_skew.h"

#include <inttypes.h>
#include <time.h>

#include <timebase/counter.h>

#include "clock/counter/readable.h"
#include "log.h"

#define FIRST_BUDGET_NS 40000000
/* Short: others wait for this CPU. */
#define THROWS 200
/* Lines begin 30 ms after they were published: a round must be over long before the next. */
#define ROUND_BUDGET_NS 3000000
/* Are there other CPUs than before? One that goes and comes again in between is noticed at the next look
 * around, which asks for each CPU. */
#define LIST_NS 200000000
/* Those that could not be measured, or have been away, are tried again after this. */
#define LOOK_NS 4000000000
/* Each CPU is measured again after this time, before a counter that drifts has gone far. */
#define AGAIN_NS 600000000000
/* With what passes until they are through. */
#define DRIFTING_NS (AGAIN_NS + 60000000000)
/* The kernel's own check of a counter overlooks at most what a cache line takes from CPU to CPU,
 * which is less than this. */
#define ALLOWED_NS 1000
/* So large a skew is no bound: 23 s of a counter of 3 GHz. With it no sum wraps. */
#define TICKS_MAX (UINT64_C(1) << 36)

static void tell(const struct skew *skew)
{
    unsigned unknown = skew->cpus - skew->measured_cpus;
    if (skew_is_certain(skew))
        log_line(LOG_WARNING,
                 "the counters of CPUs differ%s: the bound is %" PRIu64 " ticks wider; see dmesg",
                 skew->is_inconsistent ? ", and not always by the same" : "", skew->ticks);
    if (unknown > 0)
        log_line(LOG_WARNING,
                 "%u of %u CPUs are not compared with the others (%u may not be used, the others "
                 "are always busy): readers there are promised what the kernel vouches for, or "
                 "nothing",
                 unknown, skew->cpus, skew->refused_cpus);
    else
        log_line(LOG_INFO, "counters of %u CPUs are within %" PRIu64 " ticks of each other",
                 skew->cpus, skew->ticks);
}

/* Rounded up; good enough for an allowance. */
static uint64_t ticks_of_allowance(uint64_t ticks, int64_t ns)
{
    return ns > 0
        ? ticks / (uint64_t)ns * ALLOWED_NS + ticks % (uint64_t)ns * ALLOWED_NS / (uint64_t)ns + 1
        : 0;
}

/* The number of ticks differs each time, so it alone is no news. */
static bool is_news(const struct cpus_skew *cpus)
{
    const struct skew *now = &cpus->skew, *told = &cpus->told;
    return !cpus->is_told || now->cpus != told->cpus || now->measured_cpus != told->measured_cpus ||
        now->excludes_zero != told->excludes_zero || now->is_inconsistent != told->is_inconsistent;
}

/* Until all have been tried again, what was known before a disruption stays as the least. */
static void note_skew(struct cpus_skew *cpus)
{
    skew_of_map(&cpus->map, &cpus->skew);
    uint64_t drifting_ticks = cpus->allowance_ticks * (DRIFTING_NS / ALLOWED_NS);
    uint64_t ticks = cpus->skew.ticks < TICKS_MAX ? cpus->skew.ticks : TICKS_MAX;
    uint64_t growth_ticks = skew_growth(&cpus->map, drifting_ticks);
    ticks = growth_ticks < TICKS_MAX - ticks ? ticks + growth_ticks : TICKS_MAX;
    cpus->is_forgotten = cpus->is_forgotten && !cpus->map.is_done;
    if (!cpus->is_forgotten || ticks > cpus->skew_ticks)
        cpus->skew_ticks = ticks;
}

static void measure_round(struct cpus_skew *cpus, int64_t budget_ns)
{
    int64_t begin_ns = counter_clock_ns(CLOCK_MONOTONIC);
    uint64_t begin_ticks = timebase_ticks_ordered();
    skew_round(&cpus->map, budget_ns);
    uint64_t ticks = timebase_ticks_ordered() - begin_ticks;
    int64_t passed_ns = counter_clock_ns(CLOCK_MONOTONIC) - begin_ns;
    if (cpus->allowance_ticks == 0)
        cpus->allowance_ticks = ticks_of_allowance(ticks, passed_ns);
    note_skew(cpus);
    if (cpus->map.is_done && is_news(cpus)) {
        tell(&cpus->skew);
        cpus->told = cpus->skew;
        cpus->is_told = true;
    }
}

void cpus_measure(struct cpus_skew *cpus, int64_t mono_ns)
{
    online_list_open(&cpus->online); /* before the map: what changes in between is seen */
    skew_open(&cpus->map, THROWS);
    cpus->listed_ns = mono_ns;
    cpus->looked_ns = mono_ns;
    cpus->measured_ns = mono_ns;
    measure_round(cpus, FIRST_BUDGET_NS);
}

/* Begins to measure those that have come. */
static void look_at_list(struct cpus_skew *cpus, int64_t mono_ns)
{
    if (mono_ns - cpus->listed_ns < LIST_NS)
        return;
    cpus->listed_ns = mono_ns;
    if (online_list_has_changed(&cpus->online) && skew_is_outdated(&cpus->map))
        skew_open(&cpus->map, THROWS);
}

/* Begins to measure again if some are not known yet, or after AGAIN_NS. */
static void look_around(struct cpus_skew *cpus, int64_t mono_ns)
{
    if (mono_ns - cpus->looked_ns < LOOK_NS)
        return;
    cpus->looked_ns = mono_ns;
    if (skew_is_outdated(&cpus->map)) {
        skew_open(&cpus->map, THROWS);
        return;
    }
    bool is_all = mono_ns - cpus->measured_ns >= AGAIN_NS;
    if (cpus->map.is_done && (is_all || cpus->skew.measured_cpus < cpus->skew.cpus))
        skew_again(&cpus->map, !is_all);
    if (is_all)
        cpus->measured_ns = mono_ns;
}

bool cpus_measure_again(struct cpus_skew *cpus, int64_t mono_ns)
{
    look_at_list(cpus, mono_ns);
    look_around(cpus, mono_ns);
    if (cpus->map.is_done)
        return false;
    measure_round(cpus, ROUND_BUDGET_NS);
    return true;
}

void cpus_heed(struct cpus_skew *cpus, uint64_t disturbances)
{
    if (disturbances == cpus->disturbances)
        return;
    cpus->disturbances = disturbances;
    cpus->is_forgotten = true;
    skew_forget(&cpus->map);
    note_skew(cpus);
}

enum cpus_verdict cpus_verdict(const struct skew *skew, bool is_vouched_for)
{
    if (skew->cpus > 0 && skew->measured_cpus == skew->cpus)
        return CPUS_COMPARED;
    /* Where measurements contradict each other, the kernel is wrong about the counter. */
    return is_vouched_for && !skew->is_inconsistent ? CPUS_ALLOWED : CPUS_UNKNOWN;
}

enum cpus_verdict cpus_judge(const struct cpus_skew *cpus, bool is_vouched_for)
{
    return cpus_verdict(&cpus->skew, is_vouched_for && !cpus->is_forgotten);
}

uint64_t cpus_ticks(const struct cpus_skew *cpus, enum cpus_verdict verdict)
{
    return cpus->skew_ticks + (verdict == CPUS_ALLOWED ? cpus->allowance_ticks : 0);
}

void cpus_apply(const struct cpus_skew *cpus, enum cpus_verdict verdict,
                struct discipline_sample *sample)
{
    sample->spread_ticks = cpus_ticks(cpus, verdict);
    if (verdict == CPUS_UNKNOWN)
        sample->is_synchronized = false;
}

void cpus_close(struct cpus_skew *cpus)
{
    online_list_close(&cpus->online);
    skew_close(&cpus->map);
}
