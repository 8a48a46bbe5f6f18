/* SPDX-License-Identifier: MIT */
/*
 * The last approach on x86-64: see approach.h for what it does and for struct approach, whose
 * offsets stand below and are asserted in approach_x86_64.c.
 *
 * Why a hidden branch. The run is entered at a place known only a few cycles before, so the branch
 * there is predicted wrongly, or rightly by chance and then 20 cycles quicker. But it costs nothing
 * that anybody sees: the sample's last reading feeds two chains of instructions. One finds the
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

#define TARGET 0
#define LEAVE 8
#define NOT_BEFORE 16
#define CYCLES_PER_TICK 24
#define FIXED 28
#define STEP 32
#define SLACK 36
#define SAMPLE 40
#define EVENT 48
#define ARGUMENT 56
#define RSEQ 64
#define FRAME 72
#define OFFSETS 80
#define EVENT_TICKS 144
#define FIRST 152
#define WIDTH 156
#define RUN 160
#define GAP 164
#define MARKER 168
#define RSEQ_CPU 172
#define RSEQ_MARKER 176
#define OVERDUE 184
#define LATE 188
#define READINGS 192
#define SAMPLED (READINGS + 4 * (FINE - VERNIER))

#define LONGEST_RUN 242 /* APPROACH_LONGEST_RUN: LINKS * 3 + 2 */
#define VERNIER 16      /* APPROACH_VERNIER */
#define BRIEF 8         /* APPROACH_BRIEF */
#define FINE 32         /* APPROACH_FINE */
#define LINKS 80
#define RUN_BITS 9 /* a run's code: LINKS * 4 + 2 * 2 + the jump behind it */
#define SETTLE 12
#define HIDDEN_FIRST 8    /* multiplications that begin before the search for the entry */
#define HIDDEN_SINGLE 18  /* and those before the branch: 78 cycles together */
#define HIDDEN_VERNIER 40 /* 144 */
#define BLOCK_BITS 5
#define BLOCK (1 << BLOCK_BITS)

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

    /* xmm1: the middle, relative to the target, of what the four ends of each of xmm4, xmm0 leave. */
    .macro middle
    movhlps %xmm4, %xmm5
    movhlps %xmm0, %xmm1
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
    .irp part, 0, 1
    movdqu READINGS + 4 * (FINE - BRIEF) + 16 * \part(%rbx), %xmm\part
    psubd %xmm5, %xmm\part
    cvtdq2ps %xmm\part, %xmm\part
    subps OFFSETS + 16 * \part(%rbx), %xmm\part
    .endr
    movaps %xmm0, %xmm4
    maxps %xmm1, %xmm4
    minps %xmm1, %xmm0
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

    /* The hot code of a wait in a hurry begins with a page. */
    .section .text.hot.timebase_wait, "ax", @progbits
    .p2align 12

    /* The event of waits that return: nothing. */
    .globl approach_event_none
    .hidden approach_event_none
    .type approach_event_none, @function
approach_event_none:
    .cfi_startproc
    endbr64
    ret
    .cfi_endproc
    .size approach_event_none, . - approach_event_none

    /*
     * The event of waits that return, straight to the caller of the public function. By way of the
     * functions between, each return would be predicted wrongly or not, by what interrupts and
     * the hypervisor left of the return predictor: 5 ns each. From here it is one, always wrong.
     *
     *     int approach_from(void *a, uint64_t b, uint64_t c, void *d, approach_within *within)
     *         calls within(a, b, c, d, frame), and returns what it returns;
     *     void approach_leave(struct approach *) makes approach_from return at once whether it is late.
     */
    .macro restore register
    popq %\register
    .cfi_adjust_cfa_offset -8
    .cfi_restore \register
    .endm

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
    pushq %r8
    .cfi_adjust_cfa_offset 8
    call *%rax
    leaq 8(%rsp), %rsp
    .cfi_adjust_cfa_offset -8
1:
    .irp register, r15, r14, r13, r12, rbp, rbx
    restore \register
    .endr
    ret
    .cfi_endproc
    .size approach_from, . - approach_from

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
    ret
    .cfi_endproc
    .size approach_leave, . - approach_leave

    /*
     * void approach_poll_and_leave(struct approach *): the plain loop, and nothing between it and
     * the return: no stamp, no evidence. So it is no worse than the loop that users write.
     */
    .p2align 6
    .globl approach_poll_and_leave
    .hidden approach_poll_and_leave
    .type approach_poll_and_leave, @function
approach_poll_and_leave:
    .cfi_startproc
    endbr64
    movq LEAVE(%rdi), %rcx
    movl LATE(%rdi), %esi
    movl $0x7fffffff, %r8d
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    cmpq %rcx, %rax
    cmovnsl %r8d, %esi
    movl %esi, OVERDUE(%rdi)
    .p2align 5
1:
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    cmpq %rcx, %rax
    js 1b
    movq %rax, EVENT_TICKS(%rdi)
    jmp approach_leave
    .cfi_endproc
    .size approach_poll_and_leave, . - approach_poll_and_leave
    .text

    /*
     * void approach_run(uint64_t cycles): so many ADDs, one after the other, and nothing else
     * that takes time. The loop and the jump behind it are decided long before the ADDs ahead of
     * them are done, so a wrong prediction costs nothing if there are some 64 ADDs or more.
     */
    .p2align 6
    .globl approach_run
    .hidden approach_run
    .type approach_run, @function
approach_run:
    .cfi_startproc
    endbr64
    lfence
    movq %rdi, %rcx
    andl $(BLOCK - 1), %ecx
    shll $2, %ecx
    leaq 4f(%rip), %rax
    subq %rcx, %rax
    shrq $BLOCK_BITS, %rdi
    jz 2f
    .p2align 5
1:
    .rept BLOCK
    short_link
    .endr
    decq %rdi
    jnz 1b
2:
    notrack jmp *%rax
    .p2align 5
    .rept BLOCK
    short_link
    .endr
4:
    lfence
    ret
    .cfi_endproc
    .size approach_run, . - approach_run

    /*
     * void approach_fine_PAD(uint32_t readings[APPROACH_FINE]), and approach_sample_PAD and
     * approach_brief_PAD, which take the last APPROACH_VERNIER and APPROACH_BRIEF of them. All are as far apart as a reading and PAD additions take:
     * with one of the spacings they fall on many phases of the counter's step.
     */
    .macro readings pad
    .p2align 6
    .globl approach_fine_\pad
    .hidden approach_fine_\pad
    .type approach_fine_\pad, @function
approach_fine_\pad:
    .cfi_startproc
    endbr64
    .set reading, 0
    .rept FINE
    .if reading == FINE - VERNIER
    .globl approach_sample_\pad
    .hidden approach_sample_\pad
    .type approach_sample_\pad, @function
approach_sample_\pad:
    .endif
    .if reading == FINE - BRIEF
    .globl approach_brief_\pad
    .hidden approach_brief_\pad
    .type approach_brief_\pad, @function
approach_brief_\pad:
    .endif
    lfence
    rdtsc
    movl %eax, 4 * reading(%rdi)
    .if reading < FINE - 1
    .rept \pad
    addq %rdx, %rdx
    .endr
    .endif
    .set reading, reading + 1
    .endr
    ret
    .cfi_endproc
    .size approach_fine_\pad, . - approach_fine_\pad
    .size approach_sample_\pad, . - approach_sample_\pad
    .size approach_brief_\pad, . - approach_brief_\pad
    .endm

    readings 0
    readings 5
    readings 12

#endif

    .section .note.GNU-stack, "", %progbits
