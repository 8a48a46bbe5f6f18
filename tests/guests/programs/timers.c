/* SPDX-License-Identifier: MIT */
/*
 * What the timers of this machine say of its counter, as `timebase bench --references` measures it.
 *
 *     timers MILLISECONDS [NAME...]     a line for each; exit 1 unless those named have a rate
 *
 * "ahead" is by how much the counter goes faster by this timer than the kernel takes it to.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/timers.h"

#define PPM 1e6

static double kernel_hz;

/* The better of both ways, or neither. */
static const struct timebase_bench_fit *best(const struct timebase_bench_timer *found)
{
    const struct timebase_bench_fit *plain = &found->plain, *edge = &found->edge;
    if (!plain->has_rate || (edge->has_rate && edge->error_ticks_per_count <
                                                   plain->error_ticks_per_count))
        plain = edge;
    return plain->has_rate ? plain : NULL;
}

static void show(const char *name, const struct timebase_bench_timer *found)
{
    const struct timebase_bench_fit *fit = best(found);
    printf("%s: %.6f MHz, a read %.0f ticks, same %u of %u, edge %s, residual %.1f and %.1f ticks, "
           "kept %u of %u and %u of %u\n",
           name, found->hz / 1e6, found->read_ticks, found->same, found->reads,
           found->sees_edge ? "seen" : "not seen", found->plain.residual_ticks,
           found->edge.residual_ticks, found->plain.kept, found->plain.taken, found->edge.kept,
           found->edge.taken);
    if (fit == NULL) {
        printf("%s: no rate\n", name);
        return;
    }
    double hz = fit->ticks_per_count * found->hz;
    if (strcmp(name, "kernel") == 0)
        kernel_hz = hz;
    printf("%s: ahead %.2f +/- %.2f ppm\n", name, (hz / kernel_hz - 1) * PPM,
           fit->error_ticks_per_count / fit->ticks_per_count * PPM);
}

static int is_named(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

int main(int count, char **arguments)
{
    int missing = 0;
    if (count < 2 || atoi(arguments[1]) < 1) {
        fprintf(stderr, "usage: timers MILLISECONDS [NAME...]\n");
        return 2;
    }
    for (int i = 0; i < timebase_bench_timers(); i++) {
        const char *name = timebase_bench_timer_name(i);
        struct timebase_bench_timer found;
        int error = timebase_bench_timer(i, (uint32_t)atoi(arguments[1]), &found);
        if (error == 0)
            show(name, &found);
        else
            printf("%s: %s: %s\n", name, timebase_strerror(error), found.reason);
        missing += (error != 0 || best(&found) == NULL) &&
            is_named(name, count - 2, arguments + 2);
    }
    return missing > 0;
}
