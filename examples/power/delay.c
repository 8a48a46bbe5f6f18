/* SPDX-License-Identifier: MIT */
/*
 * delay: small delays in software, as drivers of slow hardware have them: never shorter than asked,
 * by the Time Base and tb_ticks_per_sec. The library's own waits, wait.h, say how well it went.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tb_nano.h"

#define SHORTEST_NS 100
#define LONGEST_NS 1000000

/* Rounded up, a tick more for the one that was half over, and 1 ppm for an hz that was measured. */
static uint64_t ticks_for(uint64_t ns)
{
    uint64_t hz = timebase_page_word(&cfg->tb_ticks_per_sec);
    return ns * (hz + hz / 1000000) / 1000000000 + 2;
}

/* Returns the ticks that it took. */
static uint64_t delay(uint64_t ticks)
{
    uint64_t begin = timebase_ticks_ordered(), elapsed;
    do {
        timebase_arch_relax();
        elapsed = timebase_ticks() - begin;
    } while (elapsed < ticks);
    return elapsed;
}

int main(int count, char **arguments)
{
    unsigned short_ones = 0;
    if (systemcfg_open(count > 1 ? arguments[1] : NULL) < 0)
        return 1;
    for (uint64_t ns = SHORTEST_NS; ns <= LONGEST_NS; ns *= 10) {
        uint64_t asked = ticks_for(ns), took = delay(asked);
        printf("%7" PRIu64 " ns: %" PRIu64 " ticks asked, %" PRIu64 " taken\n", ns, asked, took);
        short_ones += took < asked;
    }
    return short_ones != 0;
}
