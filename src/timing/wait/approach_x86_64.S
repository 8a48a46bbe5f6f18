/* SPDX-License-Identifier: MIT */
/*
 * The last approach on x86-64: see approach.h for what it does and for struct approach, whose
 * offsets stand below and are asserted in approach_x86_64.c.
 *
 * Why a return. The run of dependent instructions is entered at a place known only a few cycles
 * before. A loop or a jump would be predicted, sometimes rightly, and be 20 cycles quicker
 * then. A return whose address on the stack was overwritten is always predicted wrongly, to behind
 * its call, and so always costs the same. The event's function is entered likewise. Where a shadow
 * stack forbids this, the jump has to do.
 *
 * Why ADD of two registers. Golden Cove executes additions of constants in its renamer, six a
 * cycle; register + register takes a cycle everywhere.
 *
 * Why ES. A return from the kernel by IRET clears data segment registers that hold a null
 * selector other than 0 (Intel SDM vol. 2A, IRET; AMD APM vol. 3), as a system call's SYSRET does
 * not. In 64-bit mode nothing else uses ES. So 1 in ES says that no interrupt came.
 * Published as "SegScope" by Zhang et al., HPCA 2024.
 */

#ifdef __x86_64__

#define TARGET 0
#define LEAVE 8
#define BASE 16
#define STEP 20
#define TABLE 24
#define EVENT 32
#define ARGUMENT 40
#define EVENT_TICKS 48
#define MIDDLE 56
#define WIDTH 60
#define RUN 64
#define GAP 68
#define MARKER 72
#define ALLOWED 76
#define RSEQ 80
#define RSEQ_CPU 88
#define RSEQ_MARKER 96
#define NOT_BEFORE 104
#define LONGER_QUARTERS 112
#define POLLS 116
#define POLLED 120
#define READINGS 128
#define OFFSETS 224

#define LONGEST_RUN 248 /* APPROACH_LONGEST_RUN */
#define TABLE_LAST 511  /* APPROACH_TABLE_ENTRIES - 1 */
#define LONGER 100      /* APPROACH_LONGER */
#define VERNIER 16      /* APPROACH_VERNIER */
#define FINE 24         /* APPROACH_FINE */
#define TOO_LATE (1 << 20)
#define BLOCK_BITS 5
#define BLOCK (1 << BLOCK_BITS)

    /*
     * One instruction of a run. With an idle prefix it has four bytes: of three, every 21st would
     * lie across two cache lines, and to enter there costs some ten cycles more.
     */
    .macro link
    .byte 0x3e
    addq %rdx, %rdx
    .endm

    /*
     * Poll until LEAVE. r14: the longest time between two readings; r9d: how many; r8: since when.
     */
    .macro poll
    xorl %r14d, %r14d
    xorl %r9d, %r9d
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    movq %rax, %rcx
    movq %rax, %r8
    .p2align 5
1:
    movq %rcx, %r13
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    movq %rax, %rcx
    incl %r9d
    subq %r13, %rax
    cmpq %r14, %rax
    cmovaq %rax, %r14
    cmpq %r11, %rcx
    js 1b
    movq %rcx, %rdx
    subq %r11, %rdx
    cmpq $TOO_LATE, %rdx
    cmovaq %rcx, %rdi            /* 256ths of such a lateness would not fit: make it small */
    subq %r8, %rcx
    movq %rcx, POLLED(%rbx)
    movl %r9d, POLLS(%rbx)
    .endm

    /*
     * Readings, each a few instructions further from the one before than that was from its own, so
     * that no core clock makes them fall on the same phase of the counter's step again and again.
     */
    .macro read_vernier register, first, readings
    .set reading, 0
    .rept \readings
    lfence
    rdtsc
    movl %eax, \first + 4 * reading(\register)
    .if reading < \readings - 1
    .rept reading
    addq %rdx, %rdx
    .endr
    .endif
    .set reading, reading + 1
    .endr
    .endm

    /*
     * The clean sample, in 256ths of a tick relative to the target. Reading k was taken OFFSETS[k]
     * after the first, so the first was in [v - offset, v - offset + step) for each k. From the last
     * reading to the first, since what is asked is the time since the last: r8d becomes the highest
     * lower end, r9d the lowest, as long as they are at most a step (ecx) apart; one that is not
     * ends it, by making the step allowed negative.
     */
    .macro sample readings
    read_vernier %rbx, READINGS, \readings
    movslq STEP(%rbx), %rcx
    .set reading, \readings
    .rept \readings
    .set reading, reading - 1
    movl READINGS + 4 * reading(%rbx), %eax
    subl %edi, %eax
    movslq OFFSETS + 4 * reading(%rbx), %rdx
    cltq
    shlq $8, %rax
    subq %rdx, %rax
    .if reading == \readings - 1
    movq %rax, %r8
    movq %rax, %r9
    .else
    movq %rax, %rdx
    cmpq %r8, %rax
    cmovlq %r8, %rax
    cmpq %r9, %rdx
    cmovgq %r9, %rdx
    movq %rax, %r13
    subq %rdx, %r13
    cmpq %rcx, %r13
    cmovleq %rax, %r8
    cmovleq %rdx, %r9
    cmovgq %rbp, %rcx
    .endif
    .endr
    .endm

    /* Time left, after the middle of the sample, to index, to the entry into the run: r10. */
    .macro look_up
    movl %ecx, ALLOWED(%rbx)
    movq %r9, %rcx
    subq %r8, %rcx
    movl %ecx, WIDTH(%rbx)
    leaq (%r8, %r9), %rax
    sarq $1, %rax
    movl $0x7fffffff, %ecx
    cmpq %rcx, %rax
    cmovgq %rcx, %rax
    movl %eax, MIDDLE(%rbx)
    movslq BASE(%rbx), %rcx
    negq %rax
    subq %rcx, %rax
    sarq $6, %rax                /* quarters of a tick */
    xorl %ecx, %ecx
    testq %rax, %rax
    cmovsq %rcx, %rax
8:
    cmpl $TABLE_LAST, %eax
    ja 9f
    movzbl (%rsi, %rax), %ecx
    movl %ecx, RUN(%rbx)
    shll $2, %ecx                /* bytes of a link */
    subq %rcx, %r10
    .endm

    /* Seldom: more time is left than the table covers. Without a length of it, the longest run. */
    .macro wait_longer
9:
    movl LONGER_QUARTERS(%rbx), %ecx
    testl %ecx, %ecx
    jle 7f
    .rept LONGER
    link
    .endr
    lfence
    subl %ecx, %eax
    jns 8b
    xorl %eax, %eax
    jmp 8b
7:
    movl $TABLE_LAST, %eax
    jmp 8b
    .endm

    /* Go to an address at the cost of a wrong prediction. */
    .macro go_mispredicted address
    call 3f
    .cfi_adjust_cfa_offset 8
2:
    pause
    lfence
    jmp 2b
3:
    movq \address, (%rsp)
    ret
    .cfi_adjust_cfa_offset -8
    .endm

    .macro go_predicted address
    notrack jmp *\address
    .endm

    .macro approach name, readings, shadow
    .p2align 6
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .cfi_startproc
    .irp register, rbx, r12, r13, r14, rbp
    pushq %\register
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \register, 0
    .endr
    movq %rdi, %rbx
    movl TARGET(%rbx), %edi
    movq LEAVE(%rbx), %r11
    movq TABLE(%rbx), %rsi
    leaq 5f(%rip), %r10
    movq $-1, %rbp
    movq RSEQ(%rbx), %r12
    poll
    sample \readings
    look_up
    .if \shadow
    go_predicted %r10
    .else
    go_mispredicted %r10
    .endif
    wait_longer
    .p2align 6
    .rept LONGEST_RUN
    link
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
    movl 4(%r12), %ecx
    movl %ecx, RSEQ_CPU(%rbx)
    movq 8(%r12), %rcx
    movq %rcx, RSEQ_MARKER(%rbx)
    movl %r14d, GAP(%rbx)
    movq EVENT(%rbx), %rax
    movq ARGUMENT(%rbx), %rdi
    .if \shadow
    call *%rax
    .else
    leaq 6f(%rip), %rcx
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    go_mispredicted %rax
    .cfi_adjust_cfa_offset -8
    nop                          /* unwinders look up the return address - 1 */
    .endif
6:
    .irp register, rbp, r14, r13, r12, rbx
    popq %\register
    .cfi_adjust_cfa_offset -8
    .cfi_restore \register
    .endr
    ret
    .cfi_endproc
    .size \name, . - \name
    .endm

    .text
    approach approach_return_single, 1, 0
    approach approach_return_vernier, VERNIER, 0
    approach approach_jump_single, 1, 1
    approach approach_jump_vernier, VERNIER, 1

    /* The event of waits that return: nothing. */
    .p2align 6
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
     * void approach_run(uint64_t instructions): so many ADDs, one after the other, and nothing else
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
    link
    .endr
    decq %rdi
    jnz 1b
2:
    notrack jmp *%rax
    .p2align 5
    .rept BLOCK
    link
    .endr
4:
    lfence
    ret
    .cfi_endproc
    .size approach_run, . - approach_run

    /* void approach_read_vernier(uint32_t readings[APPROACH_FINE]) */
    .p2align 6
    .globl approach_read_vernier
    .hidden approach_read_vernier
    .type approach_read_vernier, @function
approach_read_vernier:
    .cfi_startproc
    endbr64
    read_vernier %rdi, 0, FINE
    ret
    .cfi_endproc
    .size approach_read_vernier, . - approach_read_vernier

#endif

    .section .note.GNU-stack, "", %progbits
