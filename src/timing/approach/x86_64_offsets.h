/* SPDX-License-Identifier: MIT */
/*
 * Where the fields of struct approach (approach.h) and its numbers are, for assembly on x86-64;
 * x86_64.c asserts all of them. And what its files share: how functions
 * begin and end, and loops.
 */
#ifndef APPROACH_X86_64_OFFSETS_H
#define APPROACH_X86_64_OFFSETS_H

#define TARGET 0
#define LEAVE 8
#define CYCLES_PER_TICK 24
#define FIXED 32
#define EARLIEST 40
#define LATEST 48
#define SPAN 56
#define EVENT 64
#define ARGUMENT 72
#define RSEQ 80
#define FRAME 88
#define BEHIND 96
#define ANOTHER 104
#define PAD 108
#define LATE 112
#define OVERDUE 116
#define EVENT_TICKS 120
#define SAMPLE 128
#define WIDTH 136
#define RUN 144
#define GAP 148
#define MARKER 152
#define RSEQ_CPU 156
#define RSEQ_MARKER 160
#define COUNT 168
#define POLLS 172
#define EVEN_POLLS 236
#define EVEN_LEAST 240
#define LOOP_CYCLES 244
#define END 248
#define HURRY 280
#define HURRY_EVENT 288
#define HURRY_LATE 296
#define USUAL_PERIOD 304
#define SOONER_FROM 308
#define SOONER_RATE 312
#define SOONER 320
#define EDGE_SOONER 328
#define EDGE_LINKS 332

#define LONGEST_RUN 242 /* APPROACH_LONGEST_RUN: LINKS * 3 + 2 */
#define LONGEST_PAD 31  /* APPROACH_LONGEST_PAD */
#define LONGEST_EDGE 14 /* APPROACH_LONGEST_EDGE */
#define LINK_BYTES 4    /* of an instruction of a run */
#define RUN_BITS 9      /* a run's code: its links, 2 * 2 bytes, and the jump behind it */
#define TICK_BITS 8     /* APPROACH_TICK_BITS */
#define CYCLE_BITS 24   /* APPROACH_CYCLE_BITS */
#define FARTHEST (1 << 27) /* APPROACH_FARTHEST */
#define NEVER 0x4000000000000 /* APPROACH_NEVER */
#define VERNIER 16      /* APPROACH_VERNIER */
#define NO_RUN 0xffffffff /* APPROACH_NO_RUN */
#define FINE 32         /* APPROACH_FINE */
#define PAD_CYCLES 6    /* APPROACH_PAD_CYCLES */
#define ENDS_BEHIND 2   /* APPROACH_ENDS_BEHIND */

#define RETURN_KNOWN 8 /* multiplications: some 24 cycles */

#ifdef __ASSEMBLER__
    .macro begin_function name
    .p2align 6
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .cfi_startproc
    endbr64
    .endm

    .macro end_function name
    .cfi_endproc
    .size \name, . - \name
    .endm

    /*
     * The polling loop of the approach in \a, not rax, rdx, rcx, rsi, r8 or r9. It begins with a
     * reading: r9d is 1 if leave_ticks, which are in rcx, had passed then. rdx:rax: the last one.
     */
    .macro begin_to_poll a
    movq LEAVE(\a), %rcx
    movl LATE(\a), %esi
    movl $0x7fffffff, %r8d
    xorl %r9d, %r9d
    poll_against %rcx
    setns %r9b
    cmovnsl %r8d, %esi
    movl %esi, OVERDUE(\a)
    .endm

    .macro poll_against ticks
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    cmpq \ticks, %rax
    .endm

    /*
     * What stands between these two is foreseen (foresee.h). \known, and \zero with its lower half
     * \zero32, are overwritten; so many multiplications, of 3 cycles each, until the core knows.
     */
    .macro begin_foreseen known, zero32
    leaq 2f(%rip), %\known
    xorl %\zero32, %\zero32
    call 1f
    .cfi_adjust_cfa_offset 8
    .endm

    .macro end_foreseen known, zero, zero32, multiplications
1:
    .rept \multiplications
    imull %\zero32, %\zero32
    .endr
    addq %\zero, %\known         /* + 0 */
    movq %\known, (%rsp)
    ret
    .cfi_adjust_cfa_offset -8
2:
    .endm

    /* Nothing is foreseen there. Before begin_foreseen, to the end of end_foreseen. */
    .macro skip_under_shadow_stack
    xorl %eax, %eax
    rdsspq %rax                  /* does nothing where there is no shadow stack */
    testq %rax, %rax
    jnz 2f
    .endm

    /*
     * Fetches the code that follows a wait, and what that calls: see foresee.h. Where only the return
     * is left, as here the core predicts it to go there, and finds the caller's registers. The return
     * that does so stands where nothing goes in truth: each other one has its call, so the one
     * behind a loop is still predicted rightly. Not rax, r10 or r11.
     */
    .macro foresee_what_follows
    skip_under_shadow_stack
    begin_foreseen r11, r10d
    ret
    end_foreseen r11, r10, r10d, RETURN_KNOWN
    .endm

    /* Until the edge before, not until rcx. r10: where the chain behind the loop is entered. See edge.h. */
    .macro aim_at_edge a
    movslq EDGE_SOONER(\a), %r10
    movl EDGE_LINKS(\a), %eax
    subq %r10, %rcx
    shll $2, %eax
    leaq 8f(%rip), %r10
    subq %rax, %r10
    .endm

    .macro pass_from_edge
    notrack jmp *%r10
    .rept LONGEST_EDGE
    .byte 0x3e
    imull %edx, %edx
    .endr
8:
    .endm

    .macro poll_until_leave
    .p2align 5
2:
    poll_against %rcx
    js 2b
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

    /*
     * A reading behind the polls, which waits for their end: what follows is fetched meanwhile. What must not be
     * early has its last poll instead.
     */
    .macro loop_stamp may_be_early
    .if \may_be_early
    rdtscp
    shlq $32, %rdx
    orq %rdx, %rax
    .endif
    .endm

    /* How all loops end. */
    .macro loop_to_stamp a, may_be_early
    .if \may_be_early
    aim_at_edge \a
    .endif
    poll_until_leave
    .if \may_be_early
    pass_from_edge
    .endif
    loop_stamp \may_be_early
    .endm

    /* The loop of a wait in a hurry: see x86_64_from.S. */
    .macro hurry name, may_be_early, near:vararg
    begin_function \name
    movq HURRY(%rdi), %rcx
    poll_against %rcx
    jns 3f
    \near
    loop_to_stamp %rdi, \may_be_early
    movq %rax, HURRY_EVENT(%rdi)
    xorl %eax, %eax
    ret
3:
    loop_stamp \may_be_early
    movq %rax, HURRY_EVENT(%rdi)
    incl HURRY_LATE(%rdi)
    movl $1, %eax
    ret
    end_function \name
    .endm
#endif

#endif
