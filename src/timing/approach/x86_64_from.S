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
 *     int approach_poll_bare(struct approach *)
 *         the plain loop, as such an end. A reading between it and the return, which waits for the
 *         polls' end, is the stamp; and while it takes its time, what follows is fetched. So it is no
 *         worse than the loop that users write, and on a shared core steadier;
 *     int approach_poll_never_early(struct approach *)
 *         the same of one that must not be early: its last poll is its stamp. Behind another reading it
 *         would be later by that;
 *     int approach_hurry(struct approach *)
 *         the same until hurry_ticks, and nothing before it. What another approach has to tell remains;
 *     int approach_hurry_and_look(struct approach *)
 *         the same, and near its end it foresees once more what follows;
 *     int approach_hurry_never_early(struct approach *), approach_hurry_never_early_and_look
 *         both of one that must not be early.
 */

#ifdef __x86_64__

#include "x86_64_offsets.h"

    .macro restore register
    popq %\register
    .cfi_adjust_cfa_offset -8
    .cfi_restore \register
    .endm

    /*
     * Behind begin_to_poll: polls until 1000 to 2023 ticks before the end, and foresees what follows
     * once more, as a neighbour may have driven it out meanwhile. Does nothing where the end is
     * nearer. How near it goes differs from wait to wait: where a loop always takes as many turns the
     * core predicts its end, and is one turn off in some of them, which are 8 ns late. Where there is
     * more time it foresees every 1000 ticks: each time the core comes to the next line that is far.
     */
    .macro poll_until_near
    movl %eax, %r10d
    shrl $3, %r10d               /* what is below does not differ: the counter steps */
    andl $1023, %r10d
    leaq -1000(%rcx), %rsi
    subq %r10, %rsi              /* the last time */
    cmpq %rsi, %rax
    jns 5f
6:
    leaq -1000(%rsi), %r11
    leaq 1000(%rax), %r10        /* the next time, unless the last one is as near */
    cmpq %r11, %r10
    cmovnsq %rsi, %r10
4:
    poll_against %r10
    js 4b
    cmpq %rsi, %r10
    je 7f
    call approach_foresee_far
    poll_against %rsi
    js 6b
7:
    foresee_what_follows
5:
    .endm

    /* The hot code of a wait in a hurry begins with a page. */
    .section .text.hot.timebase_wait, "ax", @progbits
    .p2align 12

    /* The event of waits that return, where there is no better one: nothing. */
    .globl approach_event_none
    .hidden approach_event_none
    .type approach_event_none, @function
approach_event_none:
    .cfi_startproc
    endbr64
    ret
    .cfi_endproc
    .size approach_event_none, . - approach_event_none

    .p2align 6
    .globl approach_from
    .hidden approach_from
    .type approach_from, @function
approach_from:
    .cfi_startproc
    endbr64
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
    .cfi_endproc
    .size approach_from, . - approach_from

    /* What follows is fetched while it waits for the end of the polls. */
    .macro stamp_behind
    rdtscp
    shlq $32, %rdx
    orq %rdx, %rax
    .endm

    .macro last_poll_is_the_stamp
    .endm

    .macro poll name, stamp
    .p2align 6
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .cfi_startproc
    endbr64
    begin_to_poll %rdi
    poll_until_near
    poll_until_leave
    \stamp
    movq %rax, EVENT_TICKS(%rdi)
    movl %r9d, %eax
    ret
    .cfi_endproc
    .size \name, . - \name
    .endm

    .macro hurry name, stamp, near:vararg
    .p2align 6
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .cfi_startproc
    endbr64
    movq HURRY(%rdi), %rcx
    poll_against %rcx
    jns 3f
    \near
    poll_until_leave
    \stamp
    movq %rax, HURRY_EVENT(%rdi)
    xorl %eax, %eax
    ret
3:
    \stamp
    movq %rax, HURRY_EVENT(%rdi)
    incl HURRY_LATE(%rdi)
    movl $1, %eax
    ret
    .cfi_endproc
    .size \name, . - \name
    .endm

    poll approach_poll_bare, stamp_behind
    hurry approach_hurry, stamp_behind
    hurry approach_hurry_never_early, last_poll_is_the_stamp
    hurry approach_hurry_and_look, stamp_behind, poll_until_near
    hurry approach_hurry_never_early_and_look, last_poll_is_the_stamp, poll_until_near
    poll approach_poll_never_early, last_poll_is_the_stamp

#endif

    .section .note.GNU-stack, "", %progbits
