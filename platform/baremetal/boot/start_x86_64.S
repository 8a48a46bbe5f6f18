/* SPDX-License-Identifier: MIT */
/*
 * From the boot loader to main(), 64 bits. The loader leaves 32-bit protected mode; here the first
 * 4 GiB are mapped to themselves in pages of 2 MiB, the last GiB, with the devices, uncached.
 */
    .set CR0_PG, 1 << 31
    .set CR0_MP, 1 << 1
    .set CR0_EM_TS, 0xc
    .set CR4_PAE, 1 << 5
    .set CR4_SSE, 3 << 9         /* OSFXSR, OSXMMEXCPT */
    .set EFER, 0xc0000080
    .set EFER_LME, 1 << 8
    .set PRESENT_WRITABLE, 3
    .set LARGE, 0x80
    .set UNCACHED, 0x18          /* PCD, PWT */

    .globl start
    .code32
    .text
start:
    cli
    cld
    movl $stack_top, %esp
    movl %eax, %ebp              /* main()'s arguments */
    movl %ebx, %esi
    movl $0x80000000, %eax
    cpuid
    cmpl $0x80000001, %eax
    jb no_long_mode
    movl $0x80000001, %eax
    cpuid
    testl $1 << 29, %edx
    jz no_long_mode

    movl $directories + PRESENT_WRITABLE, %eax
    movl $4, %ecx
    movl $pointers, %edi
1:
    movl %eax, (%edi)
    addl $4096, %eax
    addl $8, %edi
    loop 1b
    movl $pointers + PRESENT_WRITABLE, top
    movl $PRESENT_WRITABLE | LARGE, %eax
    movl $directories, %edi
    movl $2048, %ecx
2:
    cmpl $512, %ecx
    jne 3f
    orl $UNCACHED, %eax
3:
    movl %eax, (%edi)
    addl $0x200000, %eax
    addl $8, %edi
    loop 2b

    movl %cr4, %eax
    orl $CR4_PAE | CR4_SSE, %eax
    movl %eax, %cr4
    movl $top, %eax
    movl %eax, %cr3
    movl $EFER, %ecx
    rdmsr
    orl $EFER_LME, %eax
    wrmsr
    movl %cr0, %eax
    andl $~CR0_EM_TS, %eax
    orl $CR0_PG | CR0_MP, %eax
    movl %eax, %cr0
    lgdt gdt_pointer
    ljmp $8, $long_mode

/* Neither screen.c nor serial.c runs here: a line by hand, on both, and a halt. */
no_long_mode:
    movl $no_long_mode_text, %esi
    movl $0xb8000, %edi
    movb $0x07, %ah
    movw $0x3f8, %dx
4:
    lodsb
    testb %al, %al
    jz 5f
    stosw
    outb %al, %dx
    jmp 4b
5:
    hlt
    jmp 5b

    .code64
long_mode:
    movl $16, %eax
    movl %eax, %ds
    movl %eax, %ss
    xorl %eax, %eax
    movl %eax, %es
    movl %eax, %fs
    movl %eax, %gs
    fninit
    movl %ebp, %edi
    movl %esi, %esi
    call main
6:
    hlt
    jmp 6b

    .section .rodata
no_long_mode_text:
    .asciz "{\"line\":0,\"kind\":\"fault\",\"text\":\"this processor has no 64-bit mode: boot the 32-bit image\"}\n"

    .data
    .balign 8
    .globl gdt_task
gdt:
    .quad 0
    .quad 0x00af9a000000ffff     /* code, 64 bits */
    .quad 0x00cf92000000ffff     /* data */
gdt_task:
    .quad 0, 0                   /* the task state, for the interrupts' stack: interrupts.c */
gdt_pointer:
    .word . - gdt - 1
    .long gdt

    .bss
    .balign 4096
top:
    .skip 4096
pointers:
    .skip 4096
directories:
    .skip 4 * 4096
    .balign 16
    .skip 262144
stack_top:
    .section .note.GNU-stack, "", @progbits
