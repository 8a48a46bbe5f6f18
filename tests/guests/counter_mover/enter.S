/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * void mover_enter(mover, vmcb, vmcb_pa, stack_top, page_table): returns as a guest.
 *
 * The guest goes on at 1:, with the stack and flags of the caller. The host stays in the loop at
 * 2:, on a stack and a page table of its own, and is back there at each exit of the guest, with
 * interrupts held off by the processor (GIF is 0).
 */
#include <linux/linkage.h>

#define SAVE_RFLAGS 0x570 /* offsets in struct vmcb; machine_state.c checks them */
#define SAVE_RIP 0x578
#define SAVE_RSP 0x5d8

	.text
SYM_FUNC_START(mover_enter)
	push %rbp
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	pushfq
	mov %rsp, SAVE_RSP(%rsi)
	lea 1f(%rip), %rax
	mov %rax, SAVE_RIP(%rsi)
	pushfq
	pop SAVE_RFLAGS(%rsi)
	mov %r8, %cr3
	mov %rcx, %rsp
	push %rdi
	push %rdx
2:	mov (%rsp), %rax
	vmrun %rax
	push %rcx
	push %rdx
	push %rbx
	push %rbp
	push %rsi
	push %rdi
	push %r8
	push %r9
	push %r10
	push %r11
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, %rsi
	mov 0x78(%rsp), %rdi /* the mover, above the address of the control block */
	call mover_exit
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rdi
	pop %rsi
	pop %rbp
	pop %rbx
	pop %rdx
	pop %rcx
	jmp 2b
1:	popfq
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	pop %rbp
	RET
SYM_FUNC_END(mover_enter)
