/* SPDX-License-Identifier: MIT */
#include "table.h"

/*
 * Entered at the last instruction of a cache line, a run takes ten cycles more, or not (seen on
 * Zen 4). The run ends in the middle of a line of TABLE_LINE instructions.
 */
static int avoid_line_end(int run)
{
    return run % TABLE_LINE == TABLE_LINE / 2 + 1 ? run + 1 : run;
}

/* The run whose latency is `wanted`, rounded to whole instructions. `point` only moves up. */
static int run_for(const double *latencies, double wanted, int *point)
{
    while (*point < TABLE_RUNS - 2 && wanted > latencies[*point + 1])
        ++*point;
    double slope = (latencies[*point + 1] - latencies[*point]) / TABLE_RUN_STEP;
    double run =
        TABLE_SHORTEST_RUN + *point * TABLE_RUN_STEP + (wanted - latencies[*point]) / slope + 0.5;
    return avoid_line_end(run < APPROACH_LONGEST_RUN ? (int)run : APPROACH_LONGEST_RUN);
}

int table_build(uint8_t table[APPROACH_TABLE_ENTRIES], const double latencies[TABLE_RUNS])
{
    int point = 0;
    for (int i = 1; i < TABLE_RUNS; i++)
        if (!(latencies[i] > latencies[i - 1])) /* nor if one is no number */
            return 1;
    for (int j = 0; j < APPROACH_TABLE_ENTRIES; j++)
        table[j] = (uint8_t)run_for(latencies, latencies[0] + (j + 0.5) / 4, &point);
    return 0;
}
