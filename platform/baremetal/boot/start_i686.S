/* SPDX-License-Identifier: MIT */
/* From the boot loader to main(), 32 bits: flat segments of our own, a stack, the x87. */
    .globl start
    .text
start:
    cli
    cld
    movl $stack_top, %esp
    pushl %ebx                   /* main()'s arguments: struct multiboot_info *, ... */
    pushl %eax                   /* ... and the loader's magic before it */
    lgdt gdt_pointer
    ljmp $8, $1f
1:
    movl $16, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %fs
    movl %eax, %gs
    movl %eax, %ss
    movl %cr0, %eax
    andl $~0xc, %eax             /* neither emulated nor switched off */
    orl $2, %eax
    movl %eax, %cr0
    fninit
    call main
2:
    hlt
    jmp 2b

    .section .rodata
    .balign 8
gdt:
    .quad 0
    .quad 0x00cf9a000000ffff     /* code, 4 GiB */
    .quad 0x00cf92000000ffff     /* data */
gdt_pointer:
    .word . - gdt - 1
    .long gdt

    .bss
    .balign 16
    .skip 262144
stack_top:
    .section .note.GNU-stack, "", @progbits
