/* SPDX-License-Identifier: MIT */
/*
 * How a wait returns on x86-64: straight to the caller of the public function. By way of the
 * functions between, each return would be predicted wrongly or not, by what interrupts and the
 * hypervisor left of the return predictor: 5 ns each.
 *
 *     int approach_from(void *a, uint64_t b, uint64_t c, void *d, approach_within *within)
 *         calls within(a, b, c, d, frame), and returns what it returns. Unless that is ENDS_BEHIND:
 *         then it goes on with behind(approach), and behind that there is one return, which is
 *         predicted rightly, as all the calls before have returned;
 *     int approach_poll_bare(struct approach *)
 *         the plain loop, as such an end. A reading between it and the return, which waits for the
 *         polls' end, is the stamp; and while it takes its time, what follows is fetched. So it is no
 *         worse than the loop that users write, and on a shared core steadier;
 *     void approach_leave(struct approach *)
 *         makes approach_from return at once whether it is late: always predicted wrongly;
 *     void approach_tell_and_leave(struct approach *)
 *         the same behind tell(approach). How long that takes depends on what is predicted wrongly
 *         and what must be fetched, 5 ns each. So it is hidden behind roots that take longer: the
 *         return's address is known when they are done. A few long instructions leave room in the
 *         core for all of tell(), as many short ones would not;
 *     approach_leave_by_loop
 *         leaves first and goes on with behind(approach): for an exact approach that ends by the
 *         loop. Its return is predicted wrongly, too.
 */

#ifdef __x86_64__

#include "x86_64_offsets.h"

#define HIDING_ROOTS 5 /* of 1, each of the one before: some 100 cycles */
#define UNTIL_KNOWN 8  /* multiplications: some 24 cycles */

    .macro restore register
    popq %\register
    .cfi_adjust_cfa_offset -8
    .cfi_restore \register
    .endm

    /* From the frame in rsp: the registers that approach_from() saved. */
    .macro restore_all
    .cfi_def_cfa_offset 56
    .cfi_offset rbx, -16
    .cfi_offset rbp, -24
    .cfi_offset r12, -32
    .cfi_offset r13, -40
    .cfi_offset r14, -48
    .cfi_offset r15, -56
    .irp register, r15, r14, r13, r12, rbp, rbx
    restore \register
    .endr
    .endm

    /*
     * Fetches the code that follows a wait, and what that calls: see foresee.h. Where only the return
     * is left, as here the core predicts it to go there, and finds the caller's registers. The return
     * that does so stands where nothing goes in truth: each other one has its call, so the one
     * behind a loop is still predicted rightly. Not rax, r10 or r11.
     */
    .macro foresee_what_follows
    xorl %eax, %eax
    rdsspq %rax                  /* does nothing where there is no shadow stack */
    testq %rax, %rax
    jnz 2f
    begin_foreseen r11, r10d
    ret
    end_foreseen r11, r10, r10d, UNTIL_KNOWN
    .endm

    /*
     * Behind begin_to_poll: polls until 1000 to 2023 ticks before the end, and foresees what follows
     * once more, as a neighbour may have driven it out meanwhile. Does nothing where the end is
     * nearer. How near it goes differs from wait to wait: where a loop always takes as many turns the
     * core predicts its end, and is one turn off in some of them, which are 8 ns late.
     */
    .macro poll_until_near
    movl %eax, %esi
    shrl $3, %esi                /* what is below does not differ: the counter steps */
    andl $1023, %esi
    leaq -1000(%rcx), %r10
    subq %rsi, %r10
    cmpq %r10, %rax
    jns 5f
4:
    poll_against %r10
    js 4b
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
    foresee_what_follows
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
    jmp *BEHIND(%rdi)
    .cfi_endproc
    .size approach_from, . - approach_from

    .p2align 6
    .globl approach_poll_bare
    .hidden approach_poll_bare
    .type approach_poll_bare, @function
approach_poll_bare:
    .cfi_startproc
    endbr64
    begin_to_poll %rdi
    poll_until_near
    poll_until_leave
    rdtscp                       /* what follows is fetched while it waits for the end of the polls */
    shlq $32, %rdx
    orq %rdx, %rax
    movq %rax, EVENT_TICKS(%rdi)
    movl %r9d, %eax
    ret
    .cfi_endproc
    .size approach_poll_bare, . - approach_poll_bare

    .p2align 6
    .globl approach_leave
    .hidden approach_leave
    .type approach_leave, @function
approach_leave:
    .cfi_startproc
    endbr64
    movq FRAME(%rdi), %rsp
    movl OVERDUE(%rdi), %ecx
    xorl %eax, %eax
    cmpl LATE(%rdi), %ecx
    setg %al
    restore_all
    ret
    .cfi_endproc
    .size approach_leave, . - approach_leave

    .p2align 6
    .globl approach_tell_and_leave
    .hidden approach_tell_and_leave
    .type approach_tell_and_leave, @function
approach_tell_and_leave:
    .cfi_startproc
    endbr64
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbp, 0
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    movq %rdi, %rbx
    movl $1, %eax
    cvtsi2sdl %eax, %xmm0
    .rept HIDING_ROOTS
    sqrtsd %xmm0, %xmm0
    .endr
    movq %xmm0, %rbp
    call *TELL(%rbx)
    call 3f                      /* where approach_leave's return is predicted to go: nowhere */
    .cfi_adjust_cfa_offset 8
2:
    lfence
    jmp 2b
3:
    andl $0, %ebp                /* 0, but not before it is known */
    leaq (%rbx, %rbp), %rdi
    jmp approach_leave
    .cfi_endproc
    .size approach_tell_and_leave, . - approach_tell_and_leave

    .p2align 6
    .globl approach_leave_by_loop
    .hidden approach_leave_by_loop
    .type approach_leave_by_loop, @function
approach_leave_by_loop:
    .cfi_startproc
    movq FRAME(%rdi), %rsp
    restore_all
    jmp approach_behind
    .cfi_endproc
    .size approach_leave_by_loop, . - approach_leave_by_loop

#endif

    .section .note.GNU-stack, "", %progbits
