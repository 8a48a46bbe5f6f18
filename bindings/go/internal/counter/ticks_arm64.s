// SPDX-License-Identifier: MIT

//go:build !purego

#include "textflag.h"

// ISB keeps the reading after earlier instructions, DSB after the values of earlier loads
// (include/timebase/arch/arm64.h). $9 is ISHLD, $11 is ISH.

// func ticks() uint64
TEXT ·ticks(SB), NOSPLIT, $0-8
	MRS  CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func ordered() uint64
TEXT ·ordered(SB), NOSPLIT, $0-8
	DSB  $9
	ISB  $15
	MRS  CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func begin() uint64
TEXT ·begin(SB), NOSPLIT, $0-8
	DSB  $11
	ISB  $15
	MRS  CNTVCT_EL0, R0
	ISB  $15
	MOVD R0, ret+0(FP)
	RET

// func end() uint64
TEXT ·end(SB), NOSPLIT, $0-8
	JMP ·begin(SB)
