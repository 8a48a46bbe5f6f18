// SPDX-License-Identifier: MIT

//go:build !purego && !race

#include "textflag.h"

// Offsets: see read_amd64.s. Loads are not reordered with loads on z, so (A) and (C) need no
// instruction.

// In: R2 the page, R3 seq, R4 the counter.
#define CONVERT \
	MOVD   $1, R5             \
	AND    R3, R5             \
	SLD    $8, R5             \
	ADD    R2, R5             \
	MOVD   256(R5), R6        \ // after.start_ticks
	SUB    R6, R4             \ // d
	MOVD   8(R2), R6          \
	CMPUBGT R4, R6, none      \
	MOVD   280(R5), R6        \
	MULHDU R4, R6             \
	MOVWZ  288(R5), R7        \
	MULLD  R4, R7             \
	ADD    R7, R6             \
	MOVD   264(R5), R8        \
	MOVD   272(R5), R9        \
	ADD    R6, R8             \
	ADD    R6, R9             \
	MOVD   0(R2), R7          \ // (C)
	CMPBNE R3, R7, none       \
	MOVD   R8, mono+8(FP)     \
	MOVD   R9, utc+16(FP)     \
	MOVB   $1, ok+24(FP)      \
	RET                       \
none:                         \
	MOVB   $0, ok+24(FP)      \
	RET

// func Read(p *Page) (mono, utc int64, ok bool)
TEXT ·Read(SB), NOSPLIT, $8-25
	MOVD p+0(FP), R2
	MOVD 0(R2), R3            // (A)
	CMPBEQ R3, $0, none
	STCK ticks-8(SP)          // after all earlier loads
	MOVD ticks-8(SP), R4
	CONVERT

// func ReadUnordered(p *Page) (mono, utc int64, ok bool)
TEXT ·ReadUnordered(SB), NOSPLIT, $8-25
	MOVD p+0(FP), R2
	MOVD 0(R2), R3            // (A)
	CMPBEQ R3, $0, none
	STCKF ticks-8(SP)
	MOVD ticks-8(SP), R4
	CONVERT
