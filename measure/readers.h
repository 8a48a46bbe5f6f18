/* SPDX-License-Identifier: MIT */
/* readers: the table of ways to read the time that reading_cost.c measures. */
#ifndef TIMEBASE_BENCH_READERS_H
#define TIMEBASE_BENCH_READERS_H

#include <stdint.h>

struct bench_reader {
    const char *name;
    void (*run)(uint64_t calls); /* reads the time this many times */
    void (*begin)(void);         /* before and after a batch; may be null */
    void (*end)(void);
    unsigned longer; /* factor on the calls of a batch */
};

extern const struct bench_reader bench_readers[];
extern const int bench_readers_count;

int bench_readers_prepare(void);

#endif
