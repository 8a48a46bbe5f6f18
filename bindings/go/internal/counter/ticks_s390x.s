// SPDX-License-Identifier: MIT

//go:build !purego

#include "textflag.h"

// STORE CLOCK serialises before the value is fetched; STORE CLOCK FAST does not. BCR 15,0
// serialises (include/timebase/arch/s390x.h).
#define BCR_15_0 BYTE $0x07; BYTE $0xf0

// func ticks() uint64
TEXT ·ticks(SB), NOSPLIT, $0-8
	STCKF ret+0(FP)
	RET

// func ordered() uint64
TEXT ·ordered(SB), NOSPLIT, $0-8
	STCK ret+0(FP)
	RET

// func begin() uint64
TEXT ·begin(SB), NOSPLIT, $0-8
	STCK ret+0(FP)
	BCR_15_0
	RET

// func end() uint64
TEXT ·end(SB), NOSPLIT, $0-8
	STCK ret+0(FP)
	BCR_15_0
	RET
