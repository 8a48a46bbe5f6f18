/* SPDX-License-Identifier: MIT */
/* Which CPUs there are, and in which order they are measured. */
#include "skew.h"

#include <stdlib.h>
#include <time.h>

#include <timebase/error.h>

#include "clock/counter/readable.h"
#include "court.h"

/* The first time against the first CPU, then against others that have been measured. */
enum { ATTEMPTS = 4 };
/* A pair on quiet CPUs is through in 0.2 ms, thread starts included. */
#define PAIR_NS 2000000

static int online[SKEW_CPUS]; /* one thread measures */

bool skew_is_outdated(const struct skew_map *map)
{
    unsigned count = skew_list_online(online);
    if (count == 0)
        return false;
    for (unsigned i = 0; i < count && i < map->count; i++)
        if (online[i] != map->cpus[i].number)
            return true;
    return count != map->count;
}

/* ---- the map ------------------------------------------------------------------------------- */

/* What is known is against the first; another first, and nothing is. */
static void keep_known(const struct skew_map *before, struct skew_map *map)
{
    if (before->count == 0 || map->cpus[0].number != before->cpus[0].number)
        return;
    for (unsigned i = 1, j = 1; i < map->count; i++) {
        while (j < before->count && before->cpus[j].number < map->cpus[i].number)
            j++;
        if (j < before->count && before->cpus[j].number == map->cpus[i].number)
            map->cpus[i] = before->cpus[j];
    }
}

int skew_open(struct skew_map *map)
{
    struct skew_map before = *map, opened = {.count = skew_list_online(online)};
    int result = opened.count > 0 ? TIMEBASE_OK : TIMEBASE_E_UNSUPPORTED;
    if (opened.count == 0)
        opened.count = skew_list_own(online);
    opened.cpus = calloc(opened.count + 1, sizeof(opened.cpus[0]));
    if (opened.cpus == NULL)
        opened.count = 0;
    for (unsigned i = 0; i < opened.count; i++)
        opened.cpus[i] = (struct skew_cpu){.number = online[i], .range = SKEW_UNKNOWN};
    if (opened.count > 0) {
        keep_known(&before, &opened);
        opened.cpus[0].is_measured = true;
        opened.cpus[0].range = (struct skew_range){0, 0};
    }
    opened.next = 1;
    opened.is_done = opened.count <= 1;
    free(before.cpus);
    *map = opened;
    return result;
}

void skew_close(struct skew_map *map)
{
    free(map->cpus);
    *map = (struct skew_map){.cpus = NULL};
}

void skew_again(struct skew_map *map, bool only_unknown)
{
    for (unsigned i = 1; i < map->count; i++)
        if (!only_unknown || !map->cpus[i].is_measured)
            map->cpus[i].attempts = 0;
    map->next = 1;
    map->is_done = map->count <= 1;
}

/*
 * Against whom: the first CPU, and where that has failed another one, each time another: half-way
 * down, a quarter, and so on, or the nearest below that was measured.
 */
static unsigned parent_of(const struct skew_map *map, unsigned which)
{
    unsigned parent = map->cpus[which].attempts == 0 ? 0 : which >> map->cpus[which].attempts;
    while (parent > 0 && !map->cpus[parent].is_measured)
        parent--;
    return parent;
}

/* Returns whether it has become known. */
static bool measure(struct skew_map *map, unsigned which, int64_t limit_ns)
{
    struct skew_cpu *cpu = &map->cpus[which];
    const struct skew_cpu *parent = &map->cpus[parent_of(map, which)];
    struct skew_range seen;
    enum court_result result = court_play(parent->number, cpu->number, limit_ns, &seen);
    cpu->attempts++;
    if (result != COURT_FULL) /* which says nothing of this CPU */
        cpu->is_refused = result == COURT_REFUSED;
    if (result != COURT_PLAYED || seen.low_ticks == INT64_MIN || seen.high_ticks == INT64_MAX)
        return false;
    cpu->is_contradictory = !skew_is_usable(&seen);
    cpu->range = skew_chain(&parent->range, &seen);
    cpu->is_measured = skew_is_usable(&cpu->range);
    return true;
}

/* False: each was measured in this round of all, or cannot be. */
static bool find_next(struct skew_map *map)
{
    for (unsigned i = 1; i < map->count; i++, map->next++) {
        map->next = map->next < map->count ? map->next : 1;
        const struct skew_cpu *cpu = &map->cpus[map->next];
        bool is_new = cpu->attempts == 0;
        bool is_owed = !cpu->is_measured && !cpu->is_contradictory && cpu->attempts < ATTEMPTS;
        if (is_new || is_owed)
            return true;
    }
    return false;
}

bool skew_round(struct skew_map *map, int64_t budget_ns)
{
    int64_t end_ns = counter_clock_ns(CLOCK_MONOTONIC) + budget_ns;
    bool is_news = false;
    for (;;) {
        int64_t left_ns = end_ns - counter_clock_ns(CLOCK_MONOTONIC);
        map->is_done = !find_next(map);
        if (map->is_done || left_ns <= 0)
            return is_news;
        /* Each has its share of what is left, so that a slow one starves no other. */
        int64_t share_ns = left_ns / map->count;
        is_news = measure(map, map->next++, share_ns > PAIR_NS ? share_ns : PAIR_NS) || is_news;
    }
}

static void judge(struct skew *skew, const struct skew_cpu *cpu)
{
    skew->is_inconsistent = skew->is_inconsistent || cpu->is_contradictory;
    skew->refused_cpus += cpu->is_refused && !cpu->is_measured;
    skew->measured_cpus += cpu->is_measured;
    if (cpu->is_measured && (cpu->range.low_ticks > 0 || cpu->range.high_ticks < 0))
        skew->excludes_zero = true;
}

void skew_of_map(const struct skew_map *map, struct skew *skew)
{
    struct skew_extremes extremes = {.is_any = false};
    *skew = (struct skew){.cpus = map->count};
    for (unsigned i = 0; i < map->count; i++) {
        judge(skew, &map->cpus[i]);
        if (map->cpus[i].is_measured)
            skew_extend(&extremes, &map->cpus[i].range);
    }
    skew->ticks = extremes.most_ticks;
}
