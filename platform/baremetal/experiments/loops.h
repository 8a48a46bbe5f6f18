/* SPDX-License-Identifier: MIT */
/* loops: the loops of loop_code.S, at a place in memory of one's choice. */
#ifndef EXPERIMENTS_LOOPS_H
#define EXPERIMENTS_LOOPS_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t loop_function(uint64_t target);
typedef uint64_t delayed_loop_function(uint64_t target, const uint32_t *table, uint32_t period,
                                       uint32_t *index);

struct loop_code {
    const char *name;
    const char *begin, *end;
};

enum { LOOP_RDTSC, LOOP_LFENCE, LOOP_RDTSCP, LOOP_CPUID, LOOP_RDMSR, LOOPS };

extern const struct loop_code loops[LOOPS];
extern const struct loop_code loops_delayed;

/* A copy of the code that begins `offset` bytes behind a boundary of 64; one at a time. */
void *loops_place(const struct loop_code *code, unsigned offset);

#endif
