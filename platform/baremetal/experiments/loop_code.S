/* SPDX-License-Identifier: MIT */
/*
 * The report's TSC_loop (its figure 2): read the counter until it has reached the target, and once
 * more. Each is a function
 *
 *     uint64_t loop(uint64_t target);       the reading behind the loop
 *
 * that runs wherever its bytes are copied to, so that its place in memory can be chosen; NAME_end is
 * where its bytes end. The reading is by RDTSC, as the report's; after LFENCE; by RDTSCP; after
 * CPUID, the serialising one of 1997; and by RDMSR, its figure 5.
 */

    .macro read_rdtsc
    rdtsc
    .endm

    .macro read_lfence
    lfence
    rdtsc
    .endm

    .macro read_rdtscp
    rdtscp                       /* overwrites ECX */
    .endm

    .macro read_cpuid
    xorl %eax, %eax
    cpuid                        /* overwrites EBX and ECX */
    rdtsc
    .endm

    .macro read_rdmsr
    movl $0x10, %ecx
    rdmsr
    .endm

    .text
#ifdef __x86_64__

    .macro whole
    shlq $32, %rdx
    orq %rdx, %rax
    .endm

    .macro tsc_loop name
    .globl loop_\name, loop_\name\()_end
    .balign 64
loop_\name:
    movq %rbx, %r8
1:
    read_\name
    whole
    subq %rdi, %rax
    js 1b
    read_\name
    whole
    movq %r8, %rbx
    ret
loop_\name\()_end:
    .endm

/*
 * uint64_t delayed_loop(uint64_t target, const uint32_t *table, uint32_t period, uint32_t *index):
 * the loop is entered after a delay of table[ticks left % period] turns. *index is that rest.
 */
    .globl delayed_loop, delayed_loop_end
    .balign 64
delayed_loop:
    movq %rdx, %r9
    movq %rcx, %r10
    lfence
    rdtsc
    whole
    movq %rdi, %rcx
    subq %rax, %rcx
    movq %rcx, %rax
    xorl %edx, %edx
    divl %r9d
    movl %edx, (%r10)
    movl (%rsi, %rdx, 4), %ecx
    .balign 32
1:
    decl %ecx
    jns 1b
    .balign 32
2:
    rdtsc
    whole
    subq %rdi, %rax
    js 2b
    rdtsc
    whole
    ret
delayed_loop_end:

#else

    .macro tsc_loop name
    .globl loop_\name, loop_\name\()_end
    .balign 64
loop_\name:
    pushl %ebx
    pushl %esi
    pushl %edi
    movl 16(%esp), %esi
    movl 20(%esp), %edi
1:
    read_\name
    subl %esi, %eax
    sbbl %edi, %edx
    jl 1b
    read_\name
    popl %edi
    popl %esi
    popl %ebx
    ret
loop_\name\()_end:
    .endm

    .globl delayed_loop, delayed_loop_end
    .balign 64
delayed_loop:
    pushl %ebx
    pushl %esi
    pushl %edi
    movl 16(%esp), %esi          /* target */
    movl 20(%esp), %edi
    rdtsc
    movl %esi, %ecx
    subl %eax, %ecx              /* some thousand ticks: the lower half does */
    movl %ecx, %eax
    xorl %edx, %edx
    divl 28(%esp)                /* period */
    movl 32(%esp), %ecx
    movl %edx, (%ecx)
    movl 24(%esp), %ecx          /* table */
    movl (%ecx, %edx, 4), %ecx
    .balign 32
1:
    decl %ecx
    jns 1b
    .balign 32
2:
    rdtsc
    subl %esi, %eax
    sbbl %edi, %edx
    jl 2b
    rdtsc
    popl %edi
    popl %esi
    popl %ebx
    ret
delayed_loop_end:

#endif

    tsc_loop rdtsc
    tsc_loop lfence
    tsc_loop rdtscp
    tsc_loop cpuid
    tsc_loop rdmsr
    .section .note.GNU-stack, "", @progbits
