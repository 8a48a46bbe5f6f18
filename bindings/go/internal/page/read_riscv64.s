// SPDX-License-Identifier: MIT

//go:build !purego && !race

#include "textflag.h"

// Offsets: see read_amd64.s. The assembler knows the full fence alone; these are written as they are
// encoded.
#define FENCE_R_RW WORD $0x0230000f
#define FENCE_R_I  WORD $0x0280000f

// In: X10 the page, X11 seq, X12 the counter.
#define CONVERT \
	AND   $1, X11, X13        \
	SLL   $8, X13, X13        \
	ADD   X10, X13, X13       \
	MOV   256(X13), X14       \ // after.start_ticks
	SUB   X14, X12, X12       \ // d
	MOV   8(X10), X15         \
	BGTU  X12, X15, none      \
	MOV   280(X13), X16       \
	MULHU X16, X12, X16       \
	MOVWU 288(X13), X17       \
	MUL   X17, X12, X17       \
	ADD   X17, X16, X16       \
	MOV   264(X13), X14       \
	MOV   272(X13), X15       \
	ADD   X16, X14, X14       \
	ADD   X16, X15, X15       \
	FENCE_R_RW                \ // (C)
	MOV   0(X10), X17         \
	BNE   X17, X11, none      \
	MOV   X14, mono+8(FP)     \
	MOV   X15, utc+16(FP)     \
	MOV   $1, X16             \
	MOVB  X16, ok+24(FP)      \
	RET                       \
none:                         \
	MOVB  ZERO, ok+24(FP)     \
	RET

// func Read(p *Page) (mono, utc int64, ok bool)
TEXT ·Read(SB), NOSPLIT, $0-25
	MOV  p+0(FP), X10
	MOV  0(X10), X11
	FENCE_R_RW                // (A)
	BEQ  X11, ZERO, none
	FENCE_R_I                 // the counter after all earlier loads
	RDTIME X12
	CONVERT

// func ReadUnordered(p *Page) (mono, utc int64, ok bool)
TEXT ·ReadUnordered(SB), NOSPLIT, $0-25
	MOV  p+0(FP), X10
	MOV  0(X10), X11
	FENCE_R_RW                // (A)
	BEQ  X11, ZERO, none
	RDTIME X12
	CONVERT
