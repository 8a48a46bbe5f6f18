// SPDX-License-Identifier: MIT

//go:build !purego && !race

#include "textflag.h"

// Offsets of the page: seq 0, refresh_ticks 8, copy[0].after 128 + 128; of a line: start_ticks 0,
// mono_ns 8, utc_ns 16, period_frac 24, period_ns 32 (spec/page.md; TestOffsets compares).
//
// Loads are not reordered with loads on x86, so (A) and (C) need no instruction. What is computed
// from seq comes after the counter, and runs while an ordered reading of it is under way.

// In: DI the page, R8 seq, DX:AX the counter.
#define CONVERT \
	SHLQ  $32, DX             \
	ADDQ  DX, AX              \
	MOVL  R8, SI              \
	ANDL  $1, SI              \
	SHLL  $8, SI              \
	LEAQ  256(DI)(SI*1), SI   \ // after
	SUBQ  0(SI), AX           \ // d
	CMPQ  AX, 8(DI)           \
	JHI   none                \ // not on this line, or to be renewed
	MOVL  32(SI), R9          \
	MOVQ  AX, R10             \
	MULQ  24(SI)              \ // DX: upper half of d * period_frac
	TESTL R9, R9              \
	JNE   whole               \ // a counter of 1 GHz or less
sum:                          \
	MOVQ  8(SI), R11          \
	MOVQ  16(SI), R12         \
	ADDQ  DX, R11             \
	ADDQ  DX, R12             \
	CMPQ  R8, 0(DI)           \ // (C)
	JNE   none                \
	MOVQ  R11, mono+8(FP)     \
	MOVQ  R12, utc+16(FP)     \
	MOVB  $1, ok+24(FP)       \
	RET                       \
whole:                        \
	IMULQ R9, R10             \
	ADDQ  R10, DX             \
	JMP   sum                 \
none:                         \
	MOVB  $0, ok+24(FP)       \
	RET

// func Read(p *Page) (mono, utc int64, ok bool)
TEXT ·Read(SB), NOSPLIT, $0-25
	MOVQ  p+0(FP), DI
	MOVQ  0(DI), R8           // (A)
	TESTQ R8, R8
	JEQ   none
	RDTSCP                    // after all earlier loads
	CONVERT

// func ReadUnordered(p *Page) (mono, utc int64, ok bool)
TEXT ·ReadUnordered(SB), NOSPLIT, $0-25
	MOVQ  p+0(FP), DI
	MOVQ  0(DI), R8           // (A)
	TESTQ R8, R8
	JEQ   none
	RDTSC
	CONVERT
