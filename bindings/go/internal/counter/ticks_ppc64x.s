// SPDX-License-Identifier: MIT

//go:build (ppc64 || ppc64le) && !purego

#include "textflag.h"

// SYNC waits for all earlier storage accesses, ISYNC discards what was prefetched
// (include/timebase/arch/power.h). A reading whose lower half is zero is repeated: Cell's erratum
// (include/timebase/arch/whole.h).

// func ticks() uint64
TEXT ·ticks(SB), NOSPLIT, $0-8
again:
	MOVD SPR(268), R3
	CMPW R3, $0
	BEQ  again
	MOVD R3, ret+0(FP)
	RET

// func ordered() uint64
TEXT ·ordered(SB), NOSPLIT, $0-8
	SYNC
	ISYNC
again:
	MOVD SPR(268), R3
	CMPW R3, $0
	BEQ  again
	MOVD R3, ret+0(FP)
	RET

// func begin() uint64
TEXT ·begin(SB), NOSPLIT, $0-8
	SYNC
	ISYNC
again:
	MOVD SPR(268), R3
	CMPW R3, $0
	BEQ  again
	ISYNC
	MOVD R3, ret+0(FP)
	RET

// func end() uint64
TEXT ·end(SB), NOSPLIT, $0-8
	JMP ·begin(SB)
