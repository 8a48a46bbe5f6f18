/* SPDX-License-Identifier: MIT */
/*
 * How s390x enters a run of instructions: see single.c.
 *
 * By a jump: BR. There is no instruction for returns, so there is no return predictor to mislead:
 * the processor predicts a branch by where it went before. With more than 200 lengths of run the
 * prediction is right now and then, and that wait ends some 20 cycles early.
 */
#ifndef APPROACH_RUN_S390X_H
#define APPROACH_RUN_S390X_H

#include <stdint.h>

#include "approach.h"

#define APPROACH_HAS_RETURN 0
#define APPROACH_HAS_JUMP 1

#define APPROACH_LINK "agr %0, %0\n\t"

static inline __attribute__((always_inline)) uintptr_t approach_enter_jump(uintptr_t run,
                                                                           uintptr_t chain)
{
    uintptr_t entry;
    __asm__ __volatile__("larl %1, 5f\n\t"
                         "sgr %1, %2\n\t"
                         "br %1\n\t"
                         ".p2align 6\n\t"
                         ".rept %3\n\t" APPROACH_LINK ".endr\n"
                         "5:"
                         : "+r"(chain), "=&a"(entry)
                         : "r"(run * 4), "i"(APPROACH_LONGEST_RUN)
                         : "cc", "memory");
    return chain;
}

/* BCR 15,0 serialises: all before has completed. */
static inline void approach_settle(uintptr_t chain)
{
    __asm__ __volatile__("bcr 15, 0" : : "r"(chain) : "memory");
}

#endif
