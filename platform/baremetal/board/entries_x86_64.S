/* SPDX-License-Identifier: MIT */
/* From an interrupt's vector to C, with all registers saved. */
#include "vectors.inc"

arrived:
    .irp register, rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
    pushq %\register
    .endr
    cld
    movq %rsp, %rdi
    movq %rsp, %rbp
    andq $-16, %rsp
    call interrupt_arrived
    movq %rbp, %rsp
    .irp register, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax
    popq %\register
    .endr
    addq $16, %rsp
    iretq

/*
 * The APIC timer, as in the report of 1997: some registers saved, and the first thing read is the
 * counter. That it came is shown to the waits by ES, which a kernel's IRET would have cleared.
 */
    .globl timer_stamp, timer_ticks, timer_count
    .balign 64
timer_stamp:
    pushq %rax
    pushq %rdx
    rdtsc
    movl %eax, timer_ticks
    movl %edx, timer_ticks + 4
    incl timer_count
    movq apic_registers, %rdx
    movl $0, 0xb0(%rdx)          /* end of interrupt */
    xorl %eax, %eax
    movl %eax, %es
    popq %rdx
    popq %rax
    iretq

    .bss
    .balign 64
timer_ticks:
    .skip 8
timer_count:
    .skip 4
    .section .note.GNU-stack, "", @progbits
