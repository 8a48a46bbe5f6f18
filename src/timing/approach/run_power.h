/* SPDX-License-Identifier: MIT */
/*
 * How Power (64 bit of both ABIs, 32 bit) enters a run of instructions: see single.c.
 *
 * By return: BL puts the address behind it into the link register and onto the link stack, the
 * register is overwritten, and BLR is predicted by the stack (Power ISA Book I 2.4, BH = 00: "the
 * instruction is a subroutine return"). So it is always predicted wrongly. The address behind BL
 * is also where the run's own is reckoned from, which needs no table of contents.
 *
 * The event is called by C. A return cannot enter it: BLR goes to the link register, which must
 * hold the event's return address. (BCLRL would do, but function descriptors, the table of
 * contents and the caller's save area are the compiler's, in three ABIs.)
 */
#ifndef APPROACH_RUN_POWER_H
#define APPROACH_RUN_POWER_H

#include <stdint.h>

#include "approach.h"

#define APPROACH_HAS_RETURN 1
#define APPROACH_HAS_JUMP 0

#define APPROACH_LINK "add %0, %0, %0\n\t"

static inline __attribute__((always_inline)) uintptr_t approach_enter_return(uintptr_t run,
                                                                             uintptr_t chain)
{
    uintptr_t entry;
    __asm__ __volatile__("bl 3f\n"
                         "2:\n\t" /* predicted: nothing happens here */
                         "b 2b\n"
                         "3:\n\t"
                         "mflr %1\n\t"
                         "addi %1, %1, 5f - 2b\n\t"
                         "subf %1, %2, %1\n\t"
                         "mtlr %1\n\t"
                         "blr\n\t"
                         ".p2align 6\n\t"
                         ".rept %c3\n\t" APPROACH_LINK ".endr\n"
                         "5:"
                         : "+r"(chain), "=&b"(entry)
                         : "r"(run * 4), "i"(APPROACH_LONGEST_RUN)
                         : "lr", "memory");
    return chain;
}

static inline __attribute__((always_inline)) void approach_call_return(void *argument,
                                                                       void (*event)(void *))
{
    event(argument);
}

static inline int approach_stack_is_guarded(void)
{
    return 0;
}

/* ISYNC: all before has completed (Book II 4.6.1). */
static inline void approach_settle(uintptr_t chain)
{
    __asm__ __volatile__("isync" : : "r"(chain) : "memory");
}

#endif
