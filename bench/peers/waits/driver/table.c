/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "../../instruments.h"

/* How many trials a round has: of short targets many, for their tails; of long ones what time
 * allows. */
static const struct target {
    enum kind kind;
    uint64_t asked_ns;
    uint32_t batch;
} targets[] = {
    {KIND_DELAY, 200, 400},    {KIND_DELAY, 1000, 400},   {KIND_DELAY, 10000, 400},
    {KIND_DELAY, 100000, 100}, {KIND_DELAY, 1000000, 50}, {KIND_PERIOD, 1000000, 100},
};
enum { TARGETS = sizeof targets / sizeof *targets };

static void *touched(size_t bytes)
{
    void *memory = malloc(bytes);

    if (!memory)
        die("out of memory");
    memset(memory, 0, bytes);
    return memory;
}

static void add(struct table *table, const struct peer *peer, struct target target, size_t rounds)
{
    size_t bytes = rounds * target.batch * sizeof(double);
    size_t looks = rounds * cell_looks_of_batch(target.batch);

    if (table->count == CELLS_MOST)
        die("more cells than CELLS_MOST");
    table->order[table->count] = &table->cells[table->count];
    table->cells[table->count++] =
        (struct cell){.peer = peer,
                      .kind = target.kind,
                      .asked_ns = target.asked_ns,
                      .batch = target.batch,
                      .trials = touched(bytes),
                      .costs = touched(bytes),
                      .looks = touched(looks * sizeof(struct timebase_bench_core))};
}

static int can(const struct peer *peer, const struct target *target)
{
    if (target->kind == KIND_PERIOD)
        return peer->until != NULL;
    return peer->delay != NULL && target->asked_ns >= peer->least_ns;
}

void table_add_group(struct table *table, const struct group *group, size_t rounds)
{
    for (const struct peer *peer = group->peers; peer->name; peer++)
        for (size_t i = 0; i < TARGETS; i++)
            if (can(peer, &targets[i]))
                add(table, peer, targets[i], rounds);
}

static void nothing(uint64_t ns)
{
    (void)ns;
}

void table_add_stopwatch(struct table *table, size_t rounds)
{
    static const struct peer empty = {"nothing", nothing, 0, NULL};

    add(table, &empty, (struct target){KIND_DELAY, 0, 400}, rounds);
    add(table, &empty, (struct target){KIND_READING, 0, 400}, rounds);
    add(table, &empty, (struct target){KIND_PAIR, 0, 400}, rounds);
    add(table, &empty, (struct target){KIND_LATER, 1000000, 50}, rounds);
}
