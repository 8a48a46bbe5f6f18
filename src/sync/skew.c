/* SPDX-License-Identifier: MIT */
/* Which CPUs there are, and in which order they are measured. */
#include "skew.h"

#include <stdlib.h>
#include <time.h>

#include <timebase/error.h>

#include "clock/counter/readable.h"
#include "court.h"
#include "drift.h"

/* The first time against the nearest, then against those further away. */
enum { ATTEMPTS = 4 };
/* A pair on quiet CPUs is through in 0.2 ms, thread starts included. */
#define PAIR_NS 2000000
/* Threads of late pairs still wait for their CPUs, and they will have them. */
#define FULL_NS 100000
/* So many times as wide as the narrowest one a range is not kept. */
#define WIDE 4

static bool is_listed(const struct skew_map *map, const int *online, unsigned count)
{
    for (unsigned i = 0; i < count && i < map->count; i++)
        if (online[i] != map->cpus[i].number || skew_life(online[i]) != map->cpus[i].life)
            return false;
    return count == map->count;
}

bool skew_is_outdated(const struct skew_map *map)
{
    int *online = malloc(SKEW_CPUS * sizeof(online[0]));
    unsigned count = online != NULL ? skew_list_online(online) : 0;
    bool is_outdated = count > 0 && !is_listed(map, online, count);
    free(online);
    return is_outdated;
}

/* ---- the map ------------------------------------------------------------------------------- */

static bool is_still(const struct skew_cpu *before, const struct skew_cpu *now)
{
    return before->number == now->number && before->life == now->life;
}

/* Offsets are known against the first CPU. If another CPU is the first now, or it has been away, none
 * is known. */
static void keep_known(const struct skew_map *before, struct skew_map *map)
{
    if (before->count == 0 || !is_still(&before->cpus[0], &map->cpus[0]))
        return;
    for (unsigned i = 1, j = 1; i < map->count; i++) {
        while (j < before->count && before->cpus[j].number < map->cpus[i].number)
            j++;
        if (j < before->count && is_still(&before->cpus[j], &map->cpus[i]))
            map->cpus[i] = before->cpus[j];
    }
}

static void list_cpus(struct skew_map *opened, const int *online, unsigned count)
{
    opened->cpus = calloc(count + 1, sizeof(opened->cpus[0]));
    opened->count = opened->cpus != NULL ? count : 0;
    for (unsigned i = 0; i < opened->count; i++)
        opened->cpus[i] =
            (struct skew_cpu){.number = online[i], .life = skew_life(online[i]),
                              .against = online[0], .range = SKEW_UNKNOWN,
                              .narrowest = SKEW_NARROWEST_UNKNOWN};
}

int skew_open(struct skew_map *map, uint32_t throws)
{
    struct skew_map before = *map, opened = {.throws = throws, .next = 1};
    int *online = malloc(SKEW_CPUS * sizeof(online[0]));
    unsigned count = online != NULL ? skew_list_online(online) : 0;
    int result = count > 0 ? TIMEBASE_OK : TIMEBASE_E_UNSUPPORTED;
    if (count == 0 && online != NULL)
        count = skew_list_own(online);
    list_cpus(&opened, online, count);
    free(online);
    if (opened.count > 0) {
        keep_known(&before, &opened);
        opened.cpus[0].is_measured = true;
        opened.cpus[0].range = (struct skew_range){0, 0};
    }
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

void skew_doubt(struct skew_cpu *cpu, bool has_jumped)
{
    cpu->is_measured = false;
    cpu->range = SKEW_UNKNOWN;
    cpu->drift.count = 0;
    cpu->narrowest = SKEW_NARROWEST_UNKNOWN;
    cpu->jumps += has_jumped;
}

void skew_forget(struct skew_map *map)
{
    for (unsigned i = 1; i < map->count; i++)
        skew_doubt(&map->cpus[i], false);
    skew_again(map, false);
}

unsigned skew_find(const struct skew_map *map, int number)
{
    unsigned low = 0, high = map->count;
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (map->cpus[middle].number <= number)
            low = middle;
        else
            high = middle;
    }
    return map->cpus[low].number == number ? low : 0;
}

/* The index of a CPU that was measured; 0, the first, if that one was not. */
static unsigned find_measured(const struct skew_map *map, int number)
{
    unsigned found = skew_find(map, number);
    return map->cpus[found].is_measured ? found : 0;
}

/*
 * Against whom: the nearest relative, and where that has failed the next one; at last the first
 * CPU, and then others, each time another: a quarter of the way down, an eighth, and so on, or the
 * nearest below that was measured.
 */
static unsigned parent_of(const struct skew_map *map, unsigned which)
{
    int relatives[SKEW_RELATIVES];
    unsigned attempts = map->cpus[which].attempts;
    unsigned count = skew_relatives(map->cpus[which].number, relatives);
    if (attempts < count)
        return find_measured(map, relatives[attempts]);
    unsigned parent = attempts == count ? 0 : which >> attempts;
    while (parent > 0 && !map->cpus[parent].is_measured)
        parent--;
    return parent;
}

/*
 * Of an offset that has jumped only the last range tells anything. One that is much wider than
 * those before, beside much load, tells of a jump but nothing else: they are worth more.
 */
static void remember(struct skew_cpu *cpu, uint64_t ticks)
{
    struct skew_drift more = cpu->drift;
    drift_add(&more, ticks, &cpu->range);
    struct drift_rate rate = drift_of(&more);
    if (rate.low > rate.high) {
        cpu->jumps++;
        cpu->drift.count = 0;
        drift_add(&cpu->drift, ticks, &cpu->range);
    } else if (skew_width(&cpu->range) / WIDE <= cpu->narrowest.first_ticks) {
        cpu->drift = more;
    }
}

/* Returns whether it has become known. */
static bool measure(struct skew_map *map, unsigned which, int64_t limit_ns)
{
    struct skew_cpu *cpu = &map->cpus[which];
    const struct skew_cpu *parent = &map->cpus[parent_of(map, which)];
    struct court_score seen;
    enum court_result result =
        court_play(parent->number, cpu->number, map->throws, limit_ns, &seen);
    if (result == COURT_FULL) { /* which says nothing of this CPU */
        nanosleep(&(struct timespec){.tv_nsec = FULL_NS}, NULL);
        map->next = which;
        return false;
    }
    cpu->attempts++;
    cpu->is_refused = result == COURT_REFUSED;
    if (result != COURT_PLAYED || seen.range.low_ticks == INT64_MIN ||
        seen.range.high_ticks == INT64_MAX)
        return false;
    if (cpu->against != parent->number) /* another way, of another length */
        cpu->narrowest = SKEW_NARROWEST_UNKNOWN;
    cpu->against = parent->number;
    struct skew_range range = skew_chain(&parent->range, &seen.range);
    if (skew_is_usable(&range) && !skew_narrow(&cpu->narrowest, skew_width(&range)))
        return false;
    cpu->pair = seen.range;
    cpu->is_contradictory = !skew_is_usable(&seen.range);
    cpu->range = range;
    cpu->is_measured = skew_is_usable(&range);
    /* No younger than what it rests on. */
    cpu->measured_ns =
        parent == map->cpus ? counter_clock_ns(CLOCK_MONOTONIC) : parent->measured_ns;
    if (cpu->is_measured)
        remember(cpu, seen.ticks - (uint64_t)skew_middle(&parent->range));
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
        /* Each CPU has its share of the time that is left, so that a slow one starves no other. */
        int64_t share_ns = left_ns / map->count;
        unsigned which = map->next++;
        is_news = measure(map, which, share_ns > PAIR_NS ? share_ns : PAIR_NS) || is_news;
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

uint64_t skew_growth(const struct skew_map *map, uint64_t ticks)
{
    double ahead = 0, behind = 0;
    for (unsigned i = 1; i < map->count; i++) {
        struct drift_rate rate = drift_of(&map->cpus[i].drift);
        if (!map->cpus[i].is_measured || rate.low > rate.high)
            continue;
        if (rate.low > 0 && rate.high > ahead)
            ahead = rate.high;
        if (rate.high < 0 && -rate.low > behind)
            behind = -rate.low;
    }
    return (uint64_t)((ahead + behind) * (double)ticks) + (ahead + behind > 0);
}
