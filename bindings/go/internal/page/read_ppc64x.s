// SPDX-License-Identifier: MIT

//go:build (ppc64 || ppc64le) && !purego && !race

#include "textflag.h"

// Offsets: see read_amd64.s. A Time Base whose lower half is zero is read again (Cell's erratum,
// include/timebase/arch/whole.h).

// In: R3 the page, R4 seq, R5 the counter.
#define CONVERT \
	ANDCC  $1, R4, R6         \
	SLD    $8, R6, R6         \
	ADD    R3, R6, R6         \
	ADD    $256, R6, R6       \ // after
	MOVD   0(R6), R7          \
	SUB    R7, R5, R5         \ // d
	MOVD   8(R3), R8          \
	CMPU   R5, R8             \
	BGT    none               \
	MOVD   24(R6), R9         \
	MULHDU R9, R5, R9         \
	MOVWZ  32(R6), R10        \
	MULLD  R10, R5, R10       \
	ADD    R10, R9, R9        \
	MOVD   8(R6), R7          \
	MOVD   16(R6), R8         \
	ADD    R9, R7, R7         \
	ADD    R9, R8, R8         \
	LWSYNC                    \ // (C)
	MOVD   0(R3), R10         \
	CMP    R10, R4            \
	BNE    none               \
	MOVD   R7, mono+8(FP)     \
	MOVD   R8, utc+16(FP)     \
	MOVD   $1, R9             \
	MOVB   R9, ok+24(FP)      \
	RET                       \
none:                         \
	MOVB   R0, ok+24(FP)      \
	RET

// func Read(p *Page) (mono, utc int64, ok bool)
TEXT ·Read(SB), NOSPLIT, $0-25
	MOVD p+0(FP), R3
	MOVD 0(R3), R4
	CMP  R4, $0
	BEQ  none
	SYNC                      // (A), and the counter after all earlier loads
	ISYNC
again:
	MOVD SPR(268), R5
	CMPW R5, $0
	BEQ  again
	CONVERT

// func ReadUnordered(p *Page) (mono, utc int64, ok bool)
TEXT ·ReadUnordered(SB), NOSPLIT, $0-25
	MOVD p+0(FP), R3
	MOVD 0(R3), R4
	CMP  R4, $0
	BEQ  none
	LWSYNC                    // (A)
again:
	MOVD SPR(268), R5
	CMPW R5, $0
	BEQ  again
	CONVERT
