/* SPDX-License-Identifier: MIT */
/* bool msr_try_read(uint32_t number, uint64_t *value); interrupts.c knows the two labels. */
    .globl msr_try_read, msr_try_instruction, msr_try_failed
    .text
msr_try_read:
#ifdef __x86_64__
    movl %edi, %ecx
msr_try_instruction:
    rdmsr
    movl %eax, (%rsi)
    movl %edx, 4(%rsi)
#else
    pushl %ebx
    movl 8(%esp), %ecx
    movl 12(%esp), %ebx
msr_try_instruction:
    rdmsr
    movl %eax, (%ebx)
    movl %edx, 4(%ebx)
    popl %ebx
#endif
    movl $1, %eax
    ret
msr_try_failed:
#ifndef __x86_64__
    popl %ebx
#endif
    xorl %eax, %eax
    ret
    .section .note.GNU-stack, "", @progbits
