/* SPDX-License-Identifier: MIT */
/* Series of readings at known distances, and runs alone, on x86-64: see approach.h. */

#ifdef __x86_64__

#include "x86_64_offsets.h"

#define BLOCK_BITS 5
#define BLOCK (1 << BLOCK_BITS)

    /* A cycle: register + register is what no renamer carries out. Four bytes, by an idle prefix. */
    .macro link
    .byte 0x3e
    addq %rdx, %rdx
    .endm

    .section .text.hot.timebase_wait, "ax", @progbits /* see approach.h */
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

#define FEW_BITS 4
#define FEW (1 << FEW_BITS)
#define ENTRY_BITS 7 /* few, a rest and the end are less than so long */

    /* Three cycles. Four bytes, by an idle prefix. */
    .macro long_link
    .byte 0x3e
    imull %edx, %edx
    .endm

    /*
     * int approach_count(uint64_t cycles, uint64_t link): multiplications, each of which needs the
     * one before, and the first one `link`; and up to two ADDs. There is no fence before them:
     * where to begin is found, and a wrong prediction made good, while `link` is not known yet.
     * They are few in a row, as all their lines have to be near.
     */
    .p2align 6
    .globl approach_count
    .hidden approach_count
    .type approach_count, @function
approach_count:
    .cfi_startproc
    endbr64
    imulq $0x55555556, %rdi, %rcx
    movl %esi, %edx
    shrq $32, %rcx               /* a third */
    leaq (%rcx, %rcx, 2), %rax
    subq %rax, %rdi              /* the rest */
    movl %ecx, %esi
    andl $(FEW - 1), %ecx
    shll $ENTRY_BITS, %edi
    shll $2, %ecx
    leaq 4f(%rip), %rax
    subq %rcx, %rax
    addq %rdi, %rax
    shrl $FEW_BITS, %esi
    jz 2f
    .p2align 5
1:
    .rept FEW
    long_link
    .endr
    decl %esi
    jnz 1b
2:
    notrack jmp *%rax
    .p2align ENTRY_BITS
3:
    .set rest, 0
    .rept 3
    .org 3b + (rest << ENTRY_BITS), 0xcc
    .rept FEW
    long_link
    .endr
    .if rest == 0
4:
    .endif
    .rept rest
    link
    .endr
    xorl %eax, %eax
    lfence
    ret
    .set rest, rest + 1
    .endr
    .cfi_endproc
    .size approach_count, . - approach_count

    .text

    /*
     * void approach_fine_PADS(uint32_t readings[APPROACH_FINE]), and approach_series_PADS, which
     * takes the last APPROACH_VERNIER of them. All are as far apart as a reading and so many times
     * PAD_CYCLES additions take: with one of the spacings they fall on many phases of the counter's
     * step.
     */
    .macro readings pads
    .p2align 6
    .globl approach_fine_\pads
    .hidden approach_fine_\pads
    .type approach_fine_\pads, @function
approach_fine_\pads:
    .cfi_startproc
    endbr64
    .set reading, 0
    .rept FINE
    .if reading == FINE - VERNIER
    .globl approach_series_\pads
    .hidden approach_series_\pads
    .type approach_series_\pads, @function
approach_series_\pads:
    .endif
    lfence
    rdtsc
    movl %eax, 4 * reading(%rdi)
    .if reading < FINE - 1
    .rept \pads * PAD_CYCLES
    addq %rdx, %rdx
    .endr
    .endif
    .set reading, reading + 1
    .endr
    ret
    .cfi_endproc
    .size approach_fine_\pads, . - approach_fine_\pads
    .size approach_series_\pads, . - approach_series_\pads
    .endm

    readings 0
    readings 1
    readings 2

#endif

    .section .note.GNU-stack, "", %progbits
