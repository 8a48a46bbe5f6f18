/* SPDX-License-Identifier: MIT */
/*
 * How 64-bit RISC-V enters a run of instructions, and an event: see single.c.
 *
 * By return: JAL puts the address behind it into ra and onto the return-address stack; ra is
 * overwritten, and JALR from ra is predicted by that stack (unprivileged ISA, "Unconditional
 * jumps", table of return-address stack hints), always wrongly. The event is entered by a JALR
 * from t0, the other link register: that is predicted to go back to a caller, and it never does.
 *
 * A shadow stack allows this: only the instruction SSPOPCHK compares it, and there is none here
 * (Zicfiss). Landing pads allow it too: jumps from ra and t0 need none (Zicfilp).
 *
 * Links have four bytes, as on the other processors. Compressed ones have two, and the addresses
 * would be wrong.
 */
#ifndef APPROACH_RUN_RISCV_H
#define APPROACH_RUN_RISCV_H

#include <stdint.h>

#include "approach.h"

#define APPROACH_HAS_RETURN 1
#define APPROACH_HAS_JUMP 0

#define APPROACH_LINK "add %0, %0, %0\n\t"

static inline __attribute__((always_inline)) uintptr_t approach_enter_return(uintptr_t run,
                                                                             uintptr_t chain)
{
    uintptr_t entry;
    __asm__ __volatile__(".option push\n\t"
                         ".option norvc\n\t"
                         "lla %1, 5f\n\t"
                         "sub %1, %1, %2\n\t"
                         "jal ra, 3f\n"
                         "2:\n\t" /* predicted: nothing happens here */
                         "fence\n\t"
                         "j 2b\n"
                         "3:\n\t"
                         "mv ra, %1\n\t"
                         "jalr zero, 0(ra)\n\t"
                         ".p2align 6\n\t"
                         ".rept %c3\n\t" APPROACH_LINK ".endr\n"
                         "5:\n\t"
                         ".option pop"
                         : "+r"(chain), "=&r"(entry)
                         : "r"(run * 4), "i"(APPROACH_LONGEST_RUN)
                         : "ra", "memory");
    return chain;
}

/* void approach_call_return(void *argument, void (*event)(void *)) */
__asm__(".pushsection .text, \"ax\", @progbits\n"
        ".p2align 2\n"
        ".globl approach_call_return\n"
        ".hidden approach_call_return\n"
        ".type approach_call_return, @function\n"
        "approach_call_return:\n"
        ".cfi_startproc\n"
        "mv t0, a1\n"
        "jalr zero, 0(t0)\n"
        ".cfi_endproc\n"
        ".size approach_call_return, . - approach_call_return\n"
        ".popsection\n");

static inline int approach_stack_is_guarded(void)
{
    return 0;
}

/*
 * There is no instruction that waits for arithmetic. A load whose address depends on it, and a
 * fence that keeps all later memory accesses behind that load, come to the same.
 */
static inline void approach_settle(uintptr_t chain)
{
    static const uint64_t word;
    const char *address = (const char *)&word + chain;
    __asm__ __volatile__("ld zero, 0(%0)\n\tfence r, rw" : : "r"(address) : "memory");
}

#endif
