/* SPDX-License-Identifier: MIT */
/*
 * profile: where a program spends its time, by tb_nano() around a function's many calls and by the
 * Time Base around one. A call that is shorter than a step of 954 ns cannot be told by tb_nano().
 */
#include <inttypes.h>
#include <stdio.h>

#include "tb_nano.h"

#define CALLS 1000

static volatile unsigned sink;

static void short_one(void)
{
    for (unsigned i = 0; i < 100; i++)
        sink = sink * 2654435761u + i;
}

static void long_one(void)
{
    for (unsigned i = 0; i < 50; i++)
        short_one();
}

static uint64_t shortest_ticks(void (*function)(void))
{
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < CALLS; i++) {
        uint64_t begin = timebase_ticks_ordered();
        function();
        uint64_t ticks = timebase_ticks_ordered() - begin;
        if (ticks < shortest)
            shortest = ticks;
    }
    return shortest;
}

static void profile(const char *name, void (*function)(void))
{
    uint64_t begin_ns = tb_nano();
    for (int i = 0; i < CALLS; i++)
        function();
    /* Two updates may be a little apart: their difference is signed. */
    double ns = (double)(int64_t)(tb_nano() - begin_ns) / CALLS;
    double shortest_ns =
        (double)shortest_ticks(function) * 1e9 / (double)timebase_page_word(&cfg->tb_ticks_per_sec);
    printf("%-10s %10.1f ns a call, shortest %10.1f ns\n", name, ns, shortest_ns);
}

int main(int count, char **arguments)
{
    if (systemcfg_open(count > 1 ? arguments[1] : NULL) < 0)
        return 1;
    profile("short_one", short_one);
    profile("long_one", long_one);
    return 0;
}
