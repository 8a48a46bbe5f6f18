/* SPDX-License-Identifier: MIT */
/* cpus: the public face of skew: all CPUs, with those that are not there. */
#include <timebase/cpus.h>

#include <stdlib.h>
#include <time.h>

#include <timebase/counter.h>
#include <timebase/error.h>

#include "clock/counter/readable.h"
#include "drift.h"
#include "handle.h"

#define THROWS 2000
#define PAIR_NS 10000000
#define PPB 1e9

TIMEBASE_API int timebase_cpus_open(timebase_cpus **out)
{
    if (out == NULL)
        return TIMEBASE_E_INVALID;
    *out = calloc(1, sizeof(**out));
    if (*out == NULL)
        return TIMEBASE_E_RESOURCE;
    skew_open(&(*out)->map, THROWS);
    if ((*out)->map.count > 0)
        return TIMEBASE_OK;
    timebase_cpus_close(*out);
    *out = NULL;
    return TIMEBASE_E_RESOURCE;
}

TIMEBASE_API void timebase_cpus_close(timebase_cpus *cpus)
{
    if (cpus != NULL)
        skew_close(&cpus->map);
    free(cpus);
}

int64_t cpus_whole_ns(const struct timebase_cpus *cpus)
{
    return (int64_t)cpus->map.count * PAIR_NS;
}

void cpus_begin(struct timebase_cpus *cpus)
{
    if (skew_is_outdated(&cpus->map))
        skew_open(&cpus->map, THROWS);
    cpus->map.cpus[0].measured_ns = counter_clock_ns(CLOCK_MONOTONIC);
    skew_again(&cpus->map, false);
}

bool cpus_go_on(struct timebase_cpus *cpus, int64_t budget_ns)
{
    skew_round(&cpus->map, budget_ns);
    return cpus->map.is_done;
}

TIMEBASE_API int timebase_cpus_measure(timebase_cpus *cpus)
{
    if (cpus == NULL)
        return TIMEBASE_E_INVALID;
    if (timebase_counter_id() == TIMEBASE_COUNTER_OS) /* on some processors it is the only one */
        return TIMEBASE_E_UNSUPPORTED;
    cpus_begin(cpus);
    cpus_go_on(cpus, cpus_whole_ns(cpus));
    return TIMEBASE_OK;
}

static enum timebase_cpu_state state_of(const struct skew_cpu *cpu)
{
    if (cpu->is_contradictory)
        return TIMEBASE_CPU_INCONSISTENT;
    if (cpu->is_measured)
        return TIMEBASE_CPU_MEASURED;
    return cpu->is_refused ? TIMEBASE_CPU_HIDDEN : TIMEBASE_CPU_UNKNOWN;
}

static void show(const struct skew_cpu *cpu, struct timebase_cpu *out)
{
    struct drift_rate rate = drift_of(&cpu->drift);
    bool is_drift_known = cpu->drift.count > 1 && rate.low <= rate.high;
    *out = (struct timebase_cpu){.cpu = cpu->number,
                                 .state = state_of(cpu),
                                 .against = cpu->against,
                                 .jumps = cpu->jumps,
                                 .drift_error_ppb = UINT64_MAX};
    if (out->state != TIMEBASE_CPU_MEASURED)
        return;
    out->offset_ticks = skew_middle(&cpu->range);
    /* Rounded down to the middle: the upper half is no smaller. */
    out->error_ticks = (uint64_t)cpu->range.high_ticks - (uint64_t)out->offset_ticks;
    out->measured_ns = cpu->measured_ns;
    if (is_drift_known) {
        out->drift_ppb = (int64_t)((rate.low + rate.high) / 2 * PPB);
        out->drift_error_ppb = (uint64_t)((rate.high - rate.low) / 2 * PPB) + 1;
    }
}

/* Of the map, or offline. */
static void show_present(const struct skew_map *map, int number, struct timebase_cpu *out)
{
    for (unsigned i = 0; i < map->count; i++)
        if (map->cpus[i].number == number) {
            show(&map->cpus[i], out);
            return;
        }
    *out = (struct timebase_cpu){
        .cpu = number, .state = TIMEBASE_CPU_OFFLINE, .drift_error_ppb = UINT64_MAX};
}

TIMEBASE_API unsigned timebase_cpus_list(const timebase_cpus *cpus, struct timebase_cpu *out,
                                         unsigned size)
{
    if (cpus == NULL || (out == NULL && size > 0))
        return 0;
    const struct skew_map *map = &cpus->map;
    int *present = malloc(SKEW_CPUS * sizeof(present[0]));
    unsigned count = present != NULL ? skew_list_present(present) : 0;
    bool is_told = count >= map->count;
    count = is_told ? count : map->count;
    for (unsigned i = 0; i < count && i < size; i++)
        if (is_told)
            show_present(map, present[i], &out[i]);
        else
            show(&map->cpus[i], &out[i]);
    free(present);
    return count;
}
