/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../instruments.h"

static const char *const kinds[] = {"delay", "period", "reading", "pair", "later"};

void results_realtime(const struct timebase_realtime *realtime)
{
    for (int i = 0; i < TIMEBASE_REALTIME_COUNT; i++) {
        unsigned bit = 1u << i;
        if (realtime->granted & bit)
            printf("granted %s\n", timebase_realtime_name(bit));
        if (realtime->refused & bit)
            printf("refused %s: %s\n", timebase_realtime_name(bit),
                   strerror(realtime->reason_errno[i]));
    }
}

static void correct(const struct cell *cell, double ticks)
{
    for (size_t i = 0; i < cell->count; i++)
        cell->trials[i] += ticks;
}

static void write_all(const double *ticks, size_t count, FILE *file, const char *path)
{
    if (fwrite(ticks, sizeof *ticks, count, file) != count)
        die(path);
}

static void write_looks(const struct cell *cell, FILE *file, const char *path)
{
    for (size_t i = 0; i < cell->looked; i++) {
        const double look[] = {cell->looks[i].cycle_ticks, cell->looks[i].add_ticks};
        write_all(look, 2, file, path);
    }
}

static void facts(const struct stopwatch *watch, double rate)
{
    double readings = watch->readings ? (double)watch->readings : 1;

    printf("fact ticks_per_ns %.12f\n", rate);
    printf("fact fine %d\n", watch->fine);
    printf("fact step_ticks %g\n", watch->step_ticks);
    printf("fact bound_ns %.4f\n", watch->bound_ticks / readings / rate);
    printf("fact uneven_share %.6f\n", (double)watch->uneven / readings);
}

void results_write(const struct table *table, double assumed, double true_rate, const char *path)
{
    FILE *file = fopen(path, "wb");

    if (!file)
        die(path);
    facts(&table->watch, true_rate);
    for (size_t i = 0; i < table->count; i++) {
        const struct cell *cell = &table->cells[i];
        if (cell->kind == KIND_DELAY)
            correct(cell, (double)cell->asked_ns * (assumed - true_rate));
        printf("cell %s %s %" PRIu64 " %zu %" PRId64 " %" PRId64 " %" PRIu64 " %u %d\n",
               cell->peer->name, kinds[cell->kind], cell->asked_ns, cell->count, cell->cpu_ns,
               cell->wall_ns, cell->skipped, (unsigned)cell->batch, CHUNK);
        write_all(cell->trials, cell->count, file, path);
        if (cell->kind == KIND_DELAY)
            write_all(cell->costs, cell->count, file, path);
        write_looks(cell, file, path);
    }
    if (fclose(file) != 0)
        die(path);
}
