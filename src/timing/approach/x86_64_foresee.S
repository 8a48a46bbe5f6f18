/* SPDX-License-Identifier: MIT */
/*
 * void approach_foresee(const void *code, void *argument): see foresee.h.
 *
 * A return is predicted to go behind the call before it. This one goes to the end of the function
 * in truth, which the core knows no sooner than a chain of multiplications is done. Until then it
 * goes on behind the call: to the code.
 */

#ifdef __x86_64__

#define UNTIL_KNOWN 40 /* multiplications, each of the one before: 120 cycles */

    .section .text.hot.timebase_wait, "ax", @progbits
    .p2align 6
    .globl approach_foresee
    .hidden approach_foresee
    .type approach_foresee, @function
approach_foresee:
    .cfi_startproc
    endbr64
    movq %rdi, %rax
    movq %rsi, %rdi
    leaq 2f(%rip), %rcx
    xorl %edx, %edx
    call 1f
    .cfi_adjust_cfa_offset 8
    notrack jmp *%rax
1:
    .rept UNTIL_KNOWN
    imull %edx, %edx
    .endr
    addq %rdx, %rcx              /* + 0 */
    movq %rcx, (%rsp)
    ret
    .cfi_adjust_cfa_offset -8
2:
    ret
    .cfi_endproc
    .size approach_foresee, . - approach_foresee

#endif

    .section .note.GNU-stack, "", %progbits
