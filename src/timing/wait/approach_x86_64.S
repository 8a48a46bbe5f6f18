/* SPDX-License-Identifier: MIT */
/*
 * The last approach on x86-64: see approach.h for what it does.
 *
 * Why a hidden branch. The run is entered at a place known only a few cycles before, so the branch
 * there is predicted wrongly, or rightly by chance and then 20 cycles quicker. This difference does
 * not show in the wait: the sample's last reading feeds two chains of instructions. One finds the
 * entry and goes there. The other, HIDDEN multiplications each of which needs the one before, takes
 * longer than that, wrong prediction included; and the run continues it. So the time from sample to
 * event is a sum of latencies, linear in the run's length, whatever the front end does meanwhile.
 *
 * The branch is a return whose address on the stack was overwritten, so that it is wrong each
 * time. Where a shadow stack forbids this, a jump does as well. The event's function is entered by
 * such a return too, as nothing can be hidden between the stamp and an event.
 *
 * Why multiplications. Three cycles on every core of the last fifteen years; few long
 * instructions are held up less by another thread of the core than many short ones. Up to two
 * additions, of register + register, which no renamer carries out, fill the rest.
 *
 * Why settle. After the polls, whose exit is predicted wrongly or not, SETTLE multiplications give
 * the front end the time to fetch what follows.
 *
 * Why ES. A return from the kernel by IRET clears data segment registers that hold a null
 * selector other than 0 (Intel SDM vol. 2A, IRET; AMD APM vol. 3), as a system call's SYSRET does
 * not. In 64-bit mode nothing else uses ES. So 1 in ES says that no interrupt came.
 * Published as "SegScope" by Zhang et al., HPCA 2024.
 */

#ifdef __x86_64__

#include "approach_x86_64_offsets.h"

#define SAMPLED (READINGS + 4 * (FINE - VERNIER))
#define LINKS 80
#define RUN_BITS 9 /* a run's code: LINKS * 4 + 2 * 2 + the jump behind it */
#define SETTLE 12
#define HIDDEN_FIRST 8    /* multiplications that begin before the search for the entry */
#define HIDDEN_SINGLE 18  /* and those before the branch: 78 cycles together */
#define HIDDEN_VERNIER 40 /* 144 */

    .macro multiply times
    .rept \times
    imull %edx, %edx
    .endr
    .endm

    /*
     * With idle prefixes they have four bytes: of three, every 21st would lie across two cache
     * lines, and to enter there costs some ten cycles more.
     */
    .macro link
    .byte 0x3e
    imull %edx, %edx
    .endm

    .macro short_link
    .byte 0x3e
    addq %rdx, %rdx
    .endm

    /* Poll until r11; rcx: the last reading; r9: the longest time between two. */
    .macro poll
    xorl %r9d, %r9d
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    movq %rax, %rcx
    .p2align 5
1:
    movq %rcx, %r8
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    movq %rax, %rcx
    subq %r8, %rax
    cmpq %r9, %rax
    cmovaq %rax, %r9
    cmpq %r11, %rcx
    js 1b
    multiply SETTLE
    .endm

    /* xmm1 becomes the sample, relative to the target, in ticks. */
    .macro sample_single
    lfence
    rdtsc
    movl %edx, %ecx
    multiply HIDDEN_FIRST
    shlq $32, %rcx
    orq %rax, %rcx
    subq %rsi, %rcx
    cvtsi2ssq %rcx, %xmm1
    .endm

    /*
     * xmm1: the middle, relative to the target, of what the four ends of each of xmm4, xmm0 leave.
     * No lane is left as it was: bits that are no number would be an exception where the program,
     * say a Lisp, has asked for these.
     */
    .macro middle
    pshufd $0xee, %xmm4, %xmm5
    pshufd $0xee, %xmm0, %xmm1
    maxps %xmm5, %xmm4
    minps %xmm1, %xmm0
    pshufd $1, %xmm4, %xmm5
    pshufd $1, %xmm0, %xmm1
    maxss %xmm5, %xmm4
    minss %xmm1, %xmm0
    addss STEP(%rbx), %xmm0
    subss %xmm4, %xmm0
    movss %xmm0, WIDTH(%rbx)
    xorps %xmm5, %xmm5
    maxss %xmm5, %xmm0
    minss SLACK(%rbx), %xmm0
    movl $0x3f000000, %eax       /* 0.5 */
    movd %eax, %xmm5
    mulss %xmm5, %xmm0
    addss %xmm4, %xmm0
    subq %rsi, %rcx
    cvtsi2ssq %rcx, %xmm1
    addss %xmm0, %xmm1
    .endm

    /*
     * Reading k of a sample was taken OFFSETS[k] after the first, so the first was in [v - offset, v
     * - offset + STEP) for each k. xmm4: the highest of these lower ends, xmm0: the lowest; both
     * relative to the last poll, rcx. What holds up the core between two readings makes the ends of
     * those before it too low. So the first reading is put above the highest, in the middle of what
     * is possible, but by SLACK / 2 at most.
     */
    .macro sample_brief
    leaq READINGS(%rbx), %rdi
    notrack call *SAMPLE(%rbx)
    multiply HIDDEN_FIRST
    movd %ecx, %xmm5
    pshufd $0, %xmm5, %xmm5
    movdqu READINGS + 4 * (FINE - BRIEF)(%rbx), %xmm0
    psubd %xmm5, %xmm0
    cvtdq2ps %xmm0, %xmm0
    subps BRIEF_OFFSETS(%rbx), %xmm0
    movaps %xmm0, %xmm4
    middle
    .endm

    .macro sample_vernier
    leaq READINGS(%rbx), %rdi
    notrack call *SAMPLE(%rbx)
    multiply HIDDEN_FIRST
    movd %ecx, %xmm5
    pshufd $0, %xmm5, %xmm5
    .irp part, 0, 1, 2, 3
    movdqu SAMPLED + 16 * \part(%rbx), %xmm\part
    psubd %xmm5, %xmm\part
    cvtdq2ps %xmm\part, %xmm\part
    subps OFFSETS + 16 * \part(%rbx), %xmm\part
    .endr
    movaps %xmm0, %xmm4
    movaps %xmm2, %xmm5
    maxps %xmm1, %xmm4
    maxps %xmm3, %xmm5
    minps %xmm1, %xmm0
    minps %xmm3, %xmm2
    maxps %xmm5, %xmm4
    minps %xmm2, %xmm0
    middle
    .endm

    /* From the time left, - xmm1, to the cycles that the run is to last, to its entry: r10. */
    .macro find_entry
    movss %xmm1, FIRST(%rbx)
    mulss CYCLES_PER_TICK(%rbx), %xmm1
    addss FIXED(%rbx), %xmm1
    cvtss2sil %xmm1, %edi
    movl %edi, OVERDUE(%rbx)
    xorl %ecx, %ecx
    negl %edi
    cmovsl %ecx, %edi
    movl $LONGEST_RUN, %ecx
    cmpl %ecx, %edi
    cmoval %ecx, %edi
    movl %edi, RUN(%rbx)
    imull $0x5556, %edi, %ecx
    shrl $16, %ecx               /* a third: multiplications */
    leal (%rcx, %rcx, 2), %eax
    subl %eax, %edi              /* the rest: additions */
    shll $RUN_BITS, %edi
    addq %rdi, %r10
    shll $2, %ecx                /* bytes of a link */
    subq %rcx, %r10
    .endm

    /* Go to an address at the cost of a wrong prediction, which `hidden` multiplications hide. */
    .macro go_mispredicted address, hidden
    call 3f
    .cfi_adjust_cfa_offset 8
2:
    jmp 2b
3:
    movq \address, (%rsp)
    multiply \hidden
    ret
    .cfi_adjust_cfa_offset -8
    .endm

    .macro go_predicted address, hidden
    multiply \hidden
    notrack jmp *\address
    .endm

    .macro approach name, sample, hidden, shadow
    .p2align 6
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .cfi_startproc
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    movq %rdi, %rbx
    movq TARGET(%rbx), %rsi
    movq LEAVE(%rbx), %r11
    leaq 4f(%rip), %r10
    poll
    movl %r9d, GAP(%rbx)
    movq RSEQ(%rbx), %r11
    sample_\sample
    find_entry
    .if \shadow
    go_predicted %r10, \hidden
    .else
    go_mispredicted %r10, \hidden
    .endif
    .set rest, 0
    .rept 3
    .p2align RUN_BITS
    .rept LINKS
    link
    .endr
    .if rest == 0
4:
    .endif
    .rept rest
    short_link
    .endr
    jmp 5f
    .set rest, rest + 1
    .endr
5:
    lfence
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    cmpq NOT_BEFORE(%rbx), %rax
    js 5b
    movq %rax, EVENT_TICKS(%rbx)
    movl %es, %ecx
    movl %ecx, MARKER(%rbx)
    movl 4(%r11), %ecx
    movl %ecx, RSEQ_CPU(%rbx)
    movq 8(%r11), %rcx
    movq %rcx, RSEQ_MARKER(%rbx)
    movq $0, 8(%r11)             /* it must not outlast the library */
    movq EVENT(%rbx), %rax
    movq ARGUMENT(%rbx), %rdi
    .if \shadow
    call *%rax
    .else
    call 7f
    .endif
6:
    popq %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbx
    ret
    .if !\shadow
    /* The event returns to where it is predicted to return, and so do all those after it. */
7:
    .cfi_adjust_cfa_offset 16
    .cfi_rel_offset rbx, 8
    go_mispredicted %rax, 0
    .endif
    .cfi_endproc
    .size \name, . - \name
    .endm

    .text
    approach approach_return_single, single, HIDDEN_SINGLE, 0
    approach approach_return_vernier, vernier, HIDDEN_VERNIER, 0
    approach approach_return_brief, brief, HIDDEN_VERNIER, 0
    approach approach_jump_single, single, HIDDEN_SINGLE, 1
    approach approach_jump_vernier, vernier, HIDDEN_VERNIER, 1
    approach approach_jump_brief, brief, HIDDEN_VERNIER, 1

#endif

    .section .note.GNU-stack, "", %progbits
