/* SPDX-License-Identifier: MIT */
/*
 * edge: a polling loop by a counter with far steps, and what it can know better than its caller.
 *
 * Such a counter shows a new value each 10 ns. A loop `while (ticks < target)` ends behind the first edge at or
 * behind its target: between nought and a step late by that, and up to a period of the loop, 10 ns as well. The first
 * of both is known in advance. So the loop ends behind the edge *before* its target, and a chain of dependent
 * multiplications passes what lies between them. What is left is the loop's period.
 *
 * The chain is entered by a jump that is predicted wrongly nearly always, as each target needs another number of
 * links; that it is, is in the loop's mean lateness, which is learnt. Links are of three cycles: half of one is 0.4 ns.
 */
#ifndef APPROACH_EDGE_H
#define APPROACH_EDGE_H

#include <stdint.h>

#include "approach.h"

enum { EDGE_LINK_CYCLES = 3 };

#ifdef __x86_64__
enum { EDGE_IS_POSSIBLE = 1 };

static inline __attribute__((always_inline)) void edge_pass(int32_t links)
{
    uint64_t bytes = (uint64_t)(uint32_t)links * 4;
    __asm__ __volatile__("leaq 8f(%%rip), %%rax\n\t"
                         "subq %0, %%rax\n\t"
                         "notrack jmp *%%rax\n\t"
                         ".rept %c1\n\t"
                         ".byte 0x3e\n\t"
                         "imull %%edx, %%edx\n\t"
                         ".endr\n"
                         "8:"
                         :
                         : "r"(bytes), "i"(APPROACH_LONGEST_EDGE)
                         : "rax", "rdx", "cc", "memory");
}
#else
enum { EDGE_IS_POSSIBLE = 0 };

static inline void edge_pass(int32_t links)
{
    (void)links;
}
#endif

#endif
