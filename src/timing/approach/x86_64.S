/* SPDX-License-Identifier: MIT */
/*
 * The last approach on x86-64: see approach.h for what it does.
 *
 * Each poll may be the last. From its reading of the counter two chains of instructions begin. One
 * finds out how long it is to the target, and where to go: to the next poll, or into a run of so
 * many cycles. The other, HIDDEN multiplications each of which needs the one before, takes longer
 * than that, a wrong prediction included; and the run continues it. So the time from the last
 * reading to the event is a sum of latencies, linear in the run's length, whatever the front end
 * does meanwhile. It is 20 to 60 ns: no longer does a wait rely on the core.
 *
 * The branch is a return whose address on the stack was overwritten. The next poll is where it is
 * predicted to go; the run never is, instead of rightly by chance and then 20 cycles sooner. Where a
 * shadow stack forbids this, a jump does as well.
 *
 * The event's function is entered by such a return, too, and that is hidden as well (hide_call): a
 * call would be predicted rightly or not by what else the program did.
 *
 * Each poll waits for the end of all that was before, so the time between two is the same. Where
 * the counter steps, this makes a vernier of them: see vernier.h.
 *
 * What is read behind the event comes later the longer a reading takes, which another thread of the
 * core changes. The last poll shows it: by how much later than usual it came behind the one before,
 * the event comes sooner (find_sooner).
 *
 * Where polls have contradicted equal distances, something else uses the core: a run would rely on
 * it for too long. So the approach ends by the loop then, which is reached in the same way as a run.
 *
 * Why multiplications. Three cycles on every core of the last fifteen years; few long
 * instructions are held up less by another thread of the core than many short ones. Up to two
 * additions, of register + register, which no renamer carries out, fill the rest.
 *
 * Why ES. A return from the kernel by IRET clears data segment registers that hold a null
 * selector other than 0 (Intel SDM vol. 2A, IRET; AMD APM vol. 3), as a system call's SYSRET does
 * not. In 64-bit mode nothing else uses ES. So 1 in ES says that no interrupt came.
 * Published as "SegScope" by Zhang et al., HPCA 2024.
 */

#ifdef __x86_64__

#include "x86_64_offsets.h"

#define LINKS 80
#define HIDDEN_FIRST 4 /* multiplications that begin before the search for the way */
#define HIDDEN_REST 22 /* and those before the branch: 78 cycles together */
#define HIDDEN_CALL 22 /* between the stamp and a call: 66 cycles */
#define HIDDEN_RETURN 3 /* square roots between the stamp and a return: some 55 */

/* rbx points into the approach's middle, so that all of its fields are reached by one byte. */
#define BIAS 128
#define AT(field) (field - BIAS)(%rbx)

    .macro multiply times, register=edx
    .rept \times
    imull %\register, %\register
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

    /* rcx: the counter relative to the target, rbp ticks from it at most. */
    .macro read_counter
    lfence
    rdtsc
    movl %edx, %ecx
    multiply HIDDEN_FIRST
    shlq $32, %rcx
    orq %rax, %rcx
    movq %rbp, %rax
    negq %rax
    subq %rsi, %rcx
    cmpq %rbp, %rcx
    cmovgq %rbp, %rcx
    cmpq %rax, %rcx
    cmovlq %rax, %rcx
    .endm

    /* For those who look back. r12: how many; r15: the longest time between two. */
    .macro note_poll
    leal -1(%r12), %edi
    andl $(VERNIER - 1), %edi
    movl %r12d, %eax
    andl $(VERNIER - 1), %eax
    movl (POLLS - BIAS)(%rbx, %rdi, 4), %edi
    movl %ecx, (POLLS - BIAS)(%rbx, %rax, 4)
    incl %r12d
    movl %ecx, %eax
    subl %edi, %eax
    cmpl %r15d, %eax
    cmovgl %eax, %r15d
    movl %r12d, AT(COUNT)
    movl %r15d, AT(GAP)
    find_sooner
    .endm

    /*
     * eax: since the poll before. r14: so much sooner. What differs from the usual by less than
     * SOONER_FROM, or by more than half of the usual, counts as that.
     */
    .macro find_sooner
    movl AT(USUAL_PERIOD), %edi
    subl %edi, %eax
    shrl $1, %edi
    subl AT(SOONER_FROM), %edi   /* the range that counts */
    movl %eax, %r14d
    negl %r14d
    cmovsl %eax, %r14d
    subl AT(SOONER_FROM), %r14d
    cmpl %edi, %r14d
    movl $0, %edi                /* the flags are still those of the range */
    cmoval %edi, %eax
    cltq
    imulq AT(SOONER_RATE), %rax
    movq %rax, %r14
    movq %rax, AT(SOONER)
    .endm

    /*
     * r8, r9: the earliest and the latest instant, relative to the target, at which this poll can
     * have read the counter, by all of them. What holds up the core between two makes those before
     * it void: then there is no such instant, and only this one counts. How long ago that was is
     * kept from one approach to the next.
     */
    .macro narrow
    shlq $TICK_BITS, %rcx
    addq AT(EARLIEST), %r8
    addq AT(LATEST), %r9
    movq AT(SPAN), %rax
    addq %rcx, %rax
    cmpq %rcx, %r8
    cmovlq %rcx, %r8
    cmpq %rax, %r9
    cmovgq %rax, %r9
    movq %r9, %rdi
    subq %r8, %rdi
    cmovsq %rcx, %r8
    cmovsq %rax, %r9
    movl AT(EVEN_POLLS), %ecx
    leal 1(%rcx), %ecx
    movl $0, %eax                /* the flags are still those of the difference */
    cmovsl %eax, %ecx
    movl %ecx, AT(EVEN_POLLS)
    movq %rdi, AT(WIDTH)
    .endm

    /* edi: cycles left for a run, by the middle of the two. */
    .macro find_cycles
    leaq (%r8, %r9), %rdi
    sarq $1, %rdi
    movq %rdi, AT(SAMPLE)
    imulq AT(CYCLES_PER_TICK), %rdi
    addq AT(FIXED), %rdi
    addq %r14, %rdi
    sarq $CYCLE_BITS, %rdi
    movl %edi, AT(OVERDUE)
    xorl %ecx, %ecx
    negl %edi
    cmovsl %ecx, %edi
    .endm

    /*
     * r14: the next poll, if there is time for another; the loop, if polls contradicted each other
     * lately, there is time for it, and not for one more poll before it; else 0.
     */
    .macro find_other_way
    movl %edi, %ecx
    movl $-1, %eax
    subl AT(LOOP_CYCLES), %ecx
    movl AT(EVEN_POLLS), %r14d
    cmpl AT(EVEN_LEAST), %r14d
    movl $0, %r14d
    cmovgel %eax, %ecx
    movl AT(ANOTHER), %eax
    cmpl %eax, %edi
    cmovgq %r13, %r14
    cmpl %eax, %ecx
    cmovbeq (%rsp), %r14
    .endm

    /* rax: where a run of so many begins; or r14. */
    .macro find_way
    movl $LONGEST_RUN, %eax
    cmpl %eax, %edi
    cmovll %edi, %eax
    movl %eax, AT(RUN)
    imull $0x5556, %eax, %ecx
    shrl $16, %ecx               /* a third: multiplications; the rest: additions */
    shll $RUN_BITS, %eax
    imull $((3 << RUN_BITS) + 4), %ecx, %ecx
    subq %rcx, %rax
    addq %r10, %rax
    testq %r14, %r14
    cmovnzq %r14, %rax
    .endm

    /* Go to an address at the cost of a wrong prediction. */
    .macro go_mispredicted address
    call 22f
    .cfi_adjust_cfa_offset 8
21:
    jmp 21b
22:
    movq \address, (%rsp)
    ret
    .cfi_adjust_cfa_offset -8
    .endm

    /* The runs that go on with the code at `behind`; `begin`: an empty one without a rest. */
    .macro runs begin, behind, symbol
    .hidden \symbol
    .globl \symbol
    .p2align 6
\symbol:
    .set rest, 0
    .rept 3
    .org \symbol + (rest << RUN_BITS), 0xcc
    .rept LINKS
    link
    .endr
    .if rest == 0
\begin:
    .endif
    .rept rest
    short_link
    .endr
    jmp \behind
    .set rest, rest + 1
    .endr
    .endm

    /* r14d: will it have been late? */
    .macro find_late
    movl AT(OVERDUE), %ecx
    xorl %r14d, %r14d
    cmpl AT(LATE), %ecx
    setg %r14b
    .endm

    /* An interrupt before the run has ended lets the core begin with the evidence once more. */
    .macro stamp hidden:vararg
    note_evidence
    lfence
    rdtsc
    \hidden
    shlq $32, %rdx
    orq %rdx, %rax
    movq %rax, AT(EVENT_TICKS)
    .endm

    /*
     * Takes longer than the wrong prediction and what the event's first instructions come by. These
     * may begin meanwhile, as they did behind the wrong prediction; they end, or write, or are let
     * pass by a fence, when all of it has passed.
     */
    .macro hide_call
    multiply HIDDEN_CALL, edi
    .endm

    /*
     * So it is with a return, which is predicted wrongly where an interrupt or the hypervisor has emptied
     * the core's stack of returns since the call, and behind a fence that would be found out in the end.
     * Square roots, as they are a few bytes.
     */
    .macro hide_return
    movl $1, %ecx
    cvtsi2sdl %ecx, %xmm0
    .rept HIDDEN_RETURN
    sqrtsd %xmm0, %xmm0
    .endr
    .endm

    .macro note_evidence
    movl %es, %ecx
    movl %ecx, AT(MARKER)
    movq AT(RSEQ), %rcx
    movl 4(%rcx), %eax
    movl %eax, AT(RSEQ_CPU)
    movq 8(%rcx), %rax
    movq %rax, AT(RSEQ_MARKER)
    xorl %eax, %eax
    movq %rax, 8(%rcx)           /* it must not outlast the library */
    .endm

    /* Assemblers differ in what an adjustment behind a restored state would start from. */
    .macro leave_by instruction:vararg
    .cfi_remember_state
    popq %rcx
    .cfi_adjust_cfa_offset -8
    .irp register, r15, r14, r13, r12, rbp, rbx
    popq %\register
    .cfi_adjust_cfa_offset -8
    .cfi_restore \register
    .endr
    \instruction
    .cfi_restore_state
    .cfi_def_cfa_offset 64
    .endm

    .macro approach name, hot, shadow
    .p2align 6
    .globl \name, \hot
    .hidden \name, \hot
    .type \name, @function
\name:
    .cfi_startproc
    foresee_what_follows
\hot:                            /* where what follows is near */
    .irp register, rbx, rbp, r12, r13, r14, r15
    pushq %\register
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \register, 0
    .endr
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    leaq BIAS(%rdi), %rbx
    movq AT(TARGET), %rsi
    movl AT(PAD), %eax
    leaq 2f(%rip), %r11
    shll $2, %eax
    subq %rax, %r11
    leaq 4f(%rip), %r10
    leaq 8f(%rip), %rcx
    leaq approach_event_none(%rip), %rax
    cmpq %rax, AT(EVENT)
    cmoveq %rcx, %r10
    leaq 10f(%rip), %rdx
    leaq 13f(%rip), %rcx
    cmpq $0, AT(BEHIND)
    cmovneq %rcx, %rdx
    leaq 12f(%rip), %rcx
    leaq approach_poll_bare(%rip), %rax
    cmpq %rax, AT(BEHIND)
    cmoveq %rcx, %rdx
    movq %rdx, (%rsp)            /* where the loop is */
    leaq 3f(%rip), %r13
    movl $FARTHEST, %ebp
    movabsq $-NEVER, %r8         /* no poll before the first says anything */
    movabsq $NEVER, %r9
    xorl %r12d, %r12d
    movl %ebp, AT(POLLS + (VERNIER - 1) * 4) /* as if the first poll followed one far behind */
    xorl %r15d, %r15d
    jmp 1f
    /*
     * The ends of waits stand between code that each poll executes, in the same cache lines or the
     * next: so they are near when their time comes.
     */
    .p2align 6
    .if !\shadow
    .cfi_adjust_cfa_offset 8
5:
    movq %rax, (%rsp)
    multiply HIDDEN_REST
    ret
    .cfi_adjust_cfa_offset -8
    .endif
9:                               /* of one that returns */
    stamp hide_return
    movl %r14d, %eax
    leave_by ret
    .p2align 5
1:
    read_counter
    note_poll
    narrow
    jmp 11f
6:                               /* of one that calls */
    stamp hide_call
    movq AT(EVENT), %rax
    movq AT(ARGUMENT), %rdi
    .if \shadow
    call *%rax
    .else
    call 7f
    .endif
    movl %r14d, %eax
    leave_by ret
    .if !\shadow
    .cfi_adjust_cfa_offset 8
7:                               /* the event returns to where it is predicted to return */
    go_mispredicted %rax
    .cfi_adjust_cfa_offset -8
    .endif
11:
    find_cycles
    find_other_way
    find_way
    find_late
    .if \shadow
    multiply HIDDEN_REST
    notrack jmp *%rax
    .else
    call 5b
    .endif
3:                               /* the next poll, later by the pad */
    notrack jmp *%r11
    .rept LONGEST_PAD
    short_link
    .endr
2:
    jmp 1b
10:
    movl $NO_RUN, AT(RUN)
    leaq -BIAS(%rbx), %rdi
    leave_by jmp approach_poll_to_event
12:                              /* an end that takes no evidence */
    note_evidence
13:
    movl $NO_RUN, AT(RUN)
    leaq -BIAS(%rbx), %rdi
    leave_by jmp *BEHIND(%rdi)
    runs 4, 6b, \name\()_runs
    /* Behind these there is nothing but the return. */
    runs 8, 9b, \name\()_returning_runs
    .cfi_endproc
    .size \name, . - \name
    .endm

    .section .text.hot.timebase_wait, "ax", @progbits
    .p2align 12                  /* in one page: see approach.h */
    approach approach_return, approach_return_hot, 0
    approach approach_jump, approach_jump_hot, 1

#endif

    .section .note.GNU-stack, "", %progbits
