/* SPDX-License-Identifier: MIT */
/*
 * Where the fields of struct approach (approach.h) and its numbers are, for assembly on x86-64;
 * approach_x86_64.c asserts all of them. And the loop that both of its files have.
 */
#ifndef WAIT_APPROACH_X86_64_OFFSETS_H
#define WAIT_APPROACH_X86_64_OFFSETS_H

#define TARGET 0
#define LEAVE 8
#define NOT_BEFORE 16
#define CYCLES_PER_TICK 24
#define FIXED 32
#define EARLIEST 40
#define LATEST 48
#define SPAN 56
#define EVENT 64
#define ARGUMENT 72
#define RSEQ 80
#define FRAME 88
#define ANOTHER 96
#define PAD 100
#define LATE 104
#define OVERDUE 108
#define EVENT_TICKS 112
#define SAMPLE 120
#define WIDTH 128
#define RUN 136
#define GAP 140
#define MARKER 144
#define RSEQ_CPU 148
#define RSEQ_MARKER 152
#define COUNT 160
#define POLLS 164
#define EVEN_POLLS 228
#define EVEN_LEAST 232
#define LOOP_CYCLES 236

#define LONGEST_RUN 242 /* APPROACH_LONGEST_RUN: LINKS * 3 + 2 */
#define LONGEST_PAD 15  /* APPROACH_LONGEST_PAD */
#define TICK_BITS 8     /* APPROACH_TICK_BITS */
#define CYCLE_BITS 24   /* APPROACH_CYCLE_BITS */
#define FARTHEST (1 << 27) /* APPROACH_FARTHEST */
#define NEVER 0x4000000000000 /* APPROACH_NEVER */
#define VERNIER 16      /* APPROACH_VERNIER */
#define NO_RUN 0xffffffff /* APPROACH_NO_RUN */
#define FINE 32         /* APPROACH_FINE */
#define ASKS_FOR_POLLS 2 /* APPROACH_POLLS */

#ifdef __ASSEMBLER__
    /*
     * The polling loop, for the approach in \a, not rcx, rsi, r8 or r9: until its leave_ticks, which
     * had passed already if r9d is 1 then. rdx:rax: the last reading.
     */
    .macro poll_until_leave a
    movq LEAVE(\a), %rcx
    movl LATE(\a), %esi
    movl $0x7fffffff, %r8d
    xorl %r9d, %r9d
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    cmpq %rcx, %rax
    setns %r9b
    cmovnsl %r8d, %esi
    movl %esi, OVERDUE(\a)
    .p2align 5
2:
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    cmpq %rcx, %rax
    js 2b
    .endm
#endif

#endif
