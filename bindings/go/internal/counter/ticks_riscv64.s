// SPDX-License-Identifier: MIT

//go:build !purego

#include "textflag.h"

// Reading a counter counts as device input, so FENCE orders it (include/timebase/arch/riscv.h).
// The assembler knows the full fence alone; the others are written as they are encoded.
#define FENCE_R_I  WORD $0x0280000f
#define FENCE_RW_I WORD $0x0380000f
#define FENCE_I_RW WORD $0x0830000f

// func ticks() uint64
TEXT ·ticks(SB), NOSPLIT, $0-8
	RDTIME X10
	MOV    X10, ret+0(FP)
	RET

// func ordered() uint64
TEXT ·ordered(SB), NOSPLIT, $0-8
	FENCE_R_I
	RDTIME X10
	MOV    X10, ret+0(FP)
	RET

// func begin() uint64
TEXT ·begin(SB), NOSPLIT, $0-8
	FENCE_RW_I
	RDTIME X10
	FENCE_I_RW
	MOV    X10, ret+0(FP)
	RET

// func end() uint64
TEXT ·end(SB), NOSPLIT, $0-8
	FENCE_RW_I
	RDTIME X10
	FENCE_I_RW
	MOV    X10, ret+0(FP)
	RET
