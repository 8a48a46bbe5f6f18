/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <stdint.h>

/* Long enough that a counter with steps of 26 ticks shows the chain to 0.2 %, the others to 2 %. */
#define CHAIN_TURNS 256
#define FREE_TURNS 128
#define CHAIN_LOOKS 3
#define FREE_LOOKS 8 /* they are an eighth as long */

/* One instruction each: the empty assembly keeps the compiler from merging or dropping them. */
#define ADD(to, what)                                                                              \
    do {                                                                                           \
        __asm__ __volatile__("" : "+r"(to));                                                       \
        (to) += (what);                                                                            \
    } while (0)
#define TWICE(statement)                                                                           \
    do {                                                                                           \
        statement;                                                                                 \
        statement;                                                                                 \
    } while (0)
#define EIGHT_TIMES(statement) TWICE(TWICE(TWICE(statement)))

enum { ADDITIONS = 64 }; /* of a turn, in both loops */

static uint32_t add_in_a_chain(uint32_t what)
{
    uint32_t sum = what;
    for (int turn = 0; turn < CHAIN_TURNS; turn++)
        EIGHT_TIMES(EIGHT_TIMES(ADD(sum, what)));
    return sum;
}

static uint32_t add_freely(uint32_t what)
{
    uint32_t a = what, b = what, c = what, d = what, e = what, f = what, g = what, h = what;
    for (int turn = 0; turn < FREE_TURNS; turn++)
        EIGHT_TIMES(ADD(a, what); ADD(b, what); ADD(c, what); ADD(d, what); ADD(e, what);
                    ADD(f, what); ADD(g, what); ADD(h, what));
    return a + b + c + d + e + f + g + h;
}

struct range {
    double least, most;
};

static struct range ticks_of(uint32_t (*add)(uint32_t), double additions, int looks)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (int look = 0; look < looks; look++) {
        uint64_t start = timebase_ticks_ordered();
        volatile uint32_t sum = add((uint32_t)start);
        (void)sum; /* stored before the next reading */
        uint64_t taken = timebase_ticks_ordered() - start;
        least = taken < least ? taken : least;
        most = taken > most ? taken : most;
    }
    return (struct range){(double)least / additions, (double)most / additions};
}

void timebase_bench_core_look(struct timebase_bench_core *out)
{
    out->cycle_ticks = ticks_of(add_in_a_chain, (double)CHAIN_TURNS * ADDITIONS, CHAIN_LOOKS).least;
    struct range free = ticks_of(add_freely, (double)FREE_TURNS * ADDITIONS, FREE_LOOKS);
    out->add_ticks = free.least;
    out->add_most_ticks = free.most;
}
