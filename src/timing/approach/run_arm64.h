/* SPDX-License-Identifier: MIT */
/*
 * How 64-bit Arm enters a run of instructions, and an event: see single.c.
 *
 * By return: the address that BL left in x30 is overwritten. The return predictor takes RET for a
 * return to the address behind BL, so RET is always predicted wrongly (Arm ARM C6.2, BL and RET:
 * "provides a hint that this is a subroutine call", "... return"). The event is entered by a RET
 * too, in a function of one instruction. This RET is predicted to go back to the caller, and never
 * does.
 *
 * With a guarded control stack RET compares x30 with it and raises an exception if they differ
 * (FEAT_GCS). CHKFEAT tells: it clears bit 0 of x16 where the stack is in force, and is a NOP on
 * older processors. There a jump has to do. A page with branch target identification takes jumps
 * to BTI instructions only, of the kind "j", so that run has one before each of its links.
 */
#ifndef APPROACH_RUN_ARM64_H
#define APPROACH_RUN_ARM64_H

#include <stdint.h>

#include "approach.h"

#define APPROACH_HAS_RETURN 1
#define APPROACH_HAS_JUMP 1

#define APPROACH_LINK "add %0, %0, %0\n\t"

static inline __attribute__((always_inline)) uintptr_t approach_enter_return(uintptr_t run,
                                                                             uintptr_t chain)
{
    __asm__ __volatile__("adr x16, 5f\n\t"
                         "sub x16, x16, %1, lsl #2\n\t"
                         "bl 3f\n"
                         "2:\n\t" /* predicted: nothing happens here */
                         "dsb sy\n\t"
                         "b 2b\n"
                         "3:\n\t"
                         "mov x30, x16\n\t"
                         "ret\n\t"
                         ".p2align 6\n\t"
                         ".rept %c2\n\t" APPROACH_LINK ".endr\n"
                         "5:"
                         : "+r"(chain)
                         : "r"(run), "i"(APPROACH_LONGEST_RUN)
                         : "x16", "x30", "memory");
    return chain;
}

/* HINT 36 is BTI J. */
static inline __attribute__((always_inline)) uintptr_t approach_enter_jump(uintptr_t run,
                                                                           uintptr_t chain)
{
    __asm__ __volatile__("adr x16, 5f\n\t"
                         "sub x16, x16, %1, lsl #3\n\t"
                         "br x16\n\t"
                         ".p2align 6\n\t"
                         ".rept %c2\n\t"
                         "hint #36\n\t" APPROACH_LINK ".endr\n"
                         "5:\n\t"
                         "hint #36"
                         : "+r"(chain)
                         : "r"(run), "i"(APPROACH_LONGEST_RUN)
                         : "x16", "memory");
    return chain;
}

/* void approach_call_return(void *argument, void (*event)(void *)) */
__asm__(".pushsection .text, \"ax\", %progbits\n"
        ".p2align 4\n"
        ".globl approach_call_return\n"
        ".hidden approach_call_return\n"
        ".type approach_call_return, %function\n"
        "approach_call_return:\n"
        ".cfi_startproc\n"
        "ret x1\n"
        ".cfi_endproc\n"
        ".size approach_call_return, . - approach_call_return\n"
        ".popsection\n");

static inline int approach_stack_is_guarded(void)
{
    register uint64_t x16 __asm__("x16") = 1;
    __asm__ __volatile__("hint #40" : "+r"(x16)); /* CHKFEAT X16 */
    return x16 == 0;
}

/* When this instruction is done, all before it are. */
static inline void approach_settle(uintptr_t chain)
{
    __asm__ __volatile__("isb" : : "r"(chain) : "memory");
}

#endif
