/* SPDX-License-Identifier: MIT */
/*
 * How a wait returns on x86-64: from behind all functions that it has called. By way of them, each
 * return would be predicted wrongly or not, by what interrupts and the hypervisor left of the return
 * predictor: 5 ns each.
 *
 *     int approach_from(void *a, uint64_t b, uint64_t c, void *d, approach_within *within)
 *         calls within(a, b, c, d, frame), and returns what it returns. Unless that is ENDS_BEHIND:
 *         then it goes on with end(approach), the polls and the run or the loop. Behind that there is
 *         one return, which is predicted rightly, as all the calls before have returned: so what the
 *         caller does next is fetched before the end has come;
 *     int approach_hurry(struct approach *)
 *         such an end: polls until hurry_ticks, and nothing before it. What another approach has to tell
 *         remains;
 *     int approach_hurry_and_look(struct approach *)
 *         the same, and near its end it foresees once more what follows.
 */

#ifdef __x86_64__

#include "x86_64_offsets.h"

    .macro restore register
    popq %\register
    .cfi_adjust_cfa_offset -8
    .cfi_restore \register
    .endm

    /* The hot code of a wait in a hurry begins with a page. */
    .section .text.hot.timebase_wait, "ax", @progbits
    .p2align 12

    /* The event of waits that return, where there is no better one: nothing. */
    begin_function approach_event_none
    ret
    end_function approach_event_none

    begin_function approach_from
    .irp register, rbx, rbp, r12, r13, r14, r15
    pushq %\register
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \register, 0
    .endr
    movq %r8, %rax
    movq %rsp, %r8
    pushq %r8                    /* approach_end_behind() puts the approach here */
    .cfi_adjust_cfa_offset 8
    call *%rax
    popq %rdi
    .cfi_adjust_cfa_offset -8
    .irp register, r15, r14, r13, r12, rbp, rbx
    restore \register
    .endr
    cmpl $ENDS_BEHIND, %eax
    je approach_behind
    ret
approach_behind:
    jmp *END(%rdi)
    end_function approach_from

    hurry approach_hurry, 1
    hurry approach_hurry_and_look, 1, poll_until_near

#endif

    .section .note.GNU-stack, "", %progbits
