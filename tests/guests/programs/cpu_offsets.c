/* SPDX-License-Identifier: MIT */
/*
 * How far the counter of each CPU is from the first one's, as programs measure it.
 *
 *     cpu_offsets                          "cpu 1: -160 to 240", a line for each CPU
 *     cpu_offsets CPU contains TICKS       and exit 1 unless the range of that CPU has TICKS in it
 *     cpu_offsets CPU excludes TICKS       unless it has not
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sync/skew.h"

#define BUDGET_NS 20000000
#define ROUNDS_MAX 2000

static int is_all_measured(const struct skew_map *map)
{
    for (unsigned i = 1; i < map->count; i++)
        if (!map->cpus[i].is_measured)
            return 0;
    return 1;
}

/* On a loaded machine two emulated CPUs seldom run at the same time: as often as it takes. */
static void measure(struct skew_map *map)
{
    skew_open(map);
    for (int i = 0; i < ROUNDS_MAX && !is_all_measured(map); i++) {
        skew_round(map, BUDGET_NS);
        if (map->is_done)
            skew_again(map, true);
    }
}

static void show(const struct skew_cpu *cpu)
{
    if (!cpu->is_measured)
        printf("cpu %d: unknown%s\n", cpu->number,
               cpu->is_contradictory ? ", no constant offset" : "");
    else
        printf("cpu %d: %" PRId64 " to %" PRId64 "\n", cpu->number, cpu->range.low_ticks,
               cpu->range.high_ticks);
}

static int judge(const struct skew_map *map, int number, const char *verb, int64_t ticks)
{
    for (unsigned i = 0; i < map->count; i++) {
        const struct skew_cpu *cpu = &map->cpus[i];
        if (cpu->number != number || !cpu->is_measured)
            continue;
        int contains = cpu->range.low_ticks <= ticks && ticks <= cpu->range.high_ticks;
        return contains == (strcmp(verb, "contains") == 0) ? 0 : 1;
    }
    printf("cpu %d was not measured\n", number);
    return 1;
}

int main(int count, char **arguments)
{
    static struct skew_map map;
    if (count != 1 && count != 4) {
        fprintf(stderr, "usage: cpu_offsets [CPU contains|excludes TICKS]\n");
        return 2;
    }
    measure(&map);
    for (unsigned i = 0; i < map.count; i++)
        show(&map.cpus[i]);
    if (count == 1)
        return 0;
    return judge(&map, atoi(arguments[1]), arguments[2], strtoll(arguments[3], NULL, 10));
}
