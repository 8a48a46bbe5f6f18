/* SPDX-License-Identifier: MIT */
#include "reading_cost.h"

#include <stddef.h>

#include "readers.h"
#include "tb_nano_2007.h"

/* Rows before this one have filled the caches and predictors with their own. */
#define WARM_UP_CALLS 16

int timebase_bench_rows(void)
{
    return bench_readers_count;
}

const char *timebase_bench_row_name(int row)
{
    return row >= 0 && row < bench_readers_count ? bench_readers[row].name : NULL;
}

int timebase_bench_prepare(void)
{
    return bench_readers_prepare();
}

uint64_t timebase_bench_batch(int row, uint64_t *calls)
{
    if (row < 0 || row >= bench_readers_count)
        return 0;
    const struct bench_reader *reader = &bench_readers[row];
    *calls *= reader->longer;
    if (reader->begin != NULL)
        reader->begin();
    reader->run(WARM_UP_CALLS);
    uint64_t begin = timebase_stopwatch_begin();
    reader->run(*calls);
    uint64_t ticks = timebase_stopwatch_end() - begin;
    if (reader->end != NULL)
        reader->end();
    return ticks;
}

void timebase_bench_rounds(uint64_t calls, uint32_t rounds, double *ticks_per_call)
{
    for (uint32_t round = 0; round < rounds; round++)
        for (int row = 0; row < bench_readers_count; row++) {
            uint64_t called = calls;
            uint64_t ticks = timebase_bench_batch(row, &called);
            *ticks_per_call++ = (double)ticks / (double)called;
        }
}

void timebase_bench_staircase(uint32_t steps, struct timebase_bench_step *out)
{
    const timebase_clock *clock = timebase_clock_default();
    systemcfg_2007_update(&timebase_bench_systemcfg, clock);
    for (uint32_t step = 0; step < steps; step++) {
        out[step].ticks = timebase_ticks_ordered();
        out[step].utc_ns = (uint64_t)timebase_utc_ns(clock);
        out[step].tb_nano_ns = tb_nano_2007(&timebase_bench_systemcfg);
    }
}
