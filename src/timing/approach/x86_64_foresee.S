/* SPDX-License-Identifier: MIT */
/*
 * void approach_foresee(const void *code, void *argument),
 * void approach_foresee_return(const void *frame): see foresee.h.
 *
 * void approach_forget_returns(void): behind it the core knows nothing of where the calls before it
 * return to. It keeps some 16 or 32 of them, and here twice as many calls never return.
 *
 * approach_foresee_far: foresee_what_follows for a longer time. Only from where nothing but the return
 * is left, with the caller's registers; overwrites rax, r10 and r11 alone.
 *
 * A return is predicted to go behind the call before it. This one goes to the end of the function
 * in truth, which the core knows no sooner than a chain of multiplications is done. Until then it
 * goes on behind the call: to the code.
 */

#ifdef __x86_64__

#include "x86_64_offsets.h"

#define TWICE_AS_MANY_RETURNS 64 /* as any core keeps */
#define UNTIL_KNOWN 40 /* multiplications, each of the one before: 120 cycles */

    .section .text.hot.timebase_wait, "ax", @progbits
    begin_function approach_foresee
    movq %rdi, %rax
    movq %rsi, %rdi
    begin_foreseen rcx, edx
    notrack jmp *%rax
    end_foreseen rcx, rdx, edx, UNTIL_KNOWN
    ret
    end_function approach_foresee

    begin_function approach_foresee_return
    begin_foreseen rcx, edx
    movq %rdi, %rsp              /* and all registers as the caller has left them */
    .irp register, r15, r14, r13, r12, rbp, rbx, rax
    popq %\register
    .endr
    notrack jmp *%rax            /* a return would be predicted to go elsewhere */
    end_foreseen rcx, rdx, edx, UNTIL_KNOWN
    ret
    end_function approach_foresee_return

    begin_function approach_forget_returns
    movl $TWICE_AS_MANY_RETURNS, %ecx
1:
    call 2f
    .cfi_adjust_cfa_offset 8
    ud2                          /* where a return may be predicted to go */
2:
    popq %rax
    .cfi_adjust_cfa_offset -8
    decl %ecx
    jnz 1b
    ret
    end_function approach_forget_returns

    begin_function approach_foresee_far
    skip_under_shadow_stack
    begin_foreseen r11, r10d
    popq %r10                    /* whence this was called */
    popq %r10
    notrack jmp *%r10
    end_foreseen r11, r10, r10d, UNTIL_KNOWN
    ret
    end_function approach_foresee_far

#endif

    .section .note.GNU-stack, "", %progbits
