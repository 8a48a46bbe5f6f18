/* SPDX-License-Identifier: MIT */
/* From an interrupt's vector to C, with all registers saved. */
#include "vectors.inc"

arrived:
    .irp register, eax, ecx, edx, ebx, esp, ebp, esi, edi
    pushl %\register
    .endr
    cld
    movl %esp, %ebp
    andl $-16, %esp
    subl $16, %esp
    movl %ebp, (%esp)
    call interrupt_arrived
    movl %ebp, %esp
    popl %edi
    popl %esi
    popl %ebp
    addl $4, %esp                /* ESP as it was pushed: of no use */
    .irp register, ebx, edx, ecx, eax
    popl %\register
    .endr
    addl $8, %esp
    iret

/*
 * The APIC timer, as in the report of 1997: some registers saved, and the first thing read is the
 * counter.
 */
    .globl timer_stamp, timer_ticks, timer_count
    .balign 64
timer_stamp:
    pushl %eax
    pushl %edx
    rdtsc
    movl %eax, timer_ticks
    movl %edx, timer_ticks + 4
    incl timer_count
    movl apic_registers, %edx
    movl $0, 0xb0(%edx)          /* end of interrupt */
    popl %edx
    popl %eax
    iret

    .bss
    .balign 64
timer_ticks:
    .skip 8
timer_count:
    .skip 4
    .section .note.GNU-stack, "", @progbits
