// SPDX-License-Identifier: MIT

//go:build !purego && !race

#include "textflag.h"

// Offsets: see read_amd64.s. $9 is ISHLD: loads before, loads and stores after.

// In: R0 the page, R1 seq, R2 the counter.
#define CONVERT \
	AND   $1, R1, R3          \
	ADD   R3<<8, R0, R3       \
	ADD   $256, R3, R3        \ // after
	MOVD  0(R3), R4           \
	SUB   R4, R2, R2          \ // d
	MOVD  8(R0), R5           \
	CMP   R5, R2              \
	BHI   none                \
	MOVD  24(R3), R6          \
	UMULH R6, R2, R6          \
	MOVWU 32(R3), R7          \
	MUL   R7, R2, R7          \
	ADD   R7, R6, R6          \
	MOVD  8(R3), R8           \
	MOVD  16(R3), R9          \
	ADD   R6, R8, R8          \
	ADD   R6, R9, R9          \
	DMB   $9                  \ // (C)
	MOVD  0(R0), R10          \
	CMP   R1, R10             \
	BNE   none                \
	MOVD  R8, mono+8(FP)      \
	MOVD  R9, utc+16(FP)      \
	MOVD  $1, R3              \
	MOVB  R3, ok+24(FP)       \
	RET                       \
none:                         \
	MOVB  ZR, ok+24(FP)       \
	RET

// func Read(p *Page) (mono, utc int64, ok bool)
TEXT ·Read(SB), NOSPLIT, $0-25
	MOVD p+0(FP), R0
	LDAR (R0), R1             // (A)
	CBZ  R1, none
	DSB  $9                   // the counter after all earlier loads
	ISB  $15
	MRS  CNTVCT_EL0, R2
	CONVERT

// func ReadUnordered(p *Page) (mono, utc int64, ok bool)
TEXT ·ReadUnordered(SB), NOSPLIT, $0-25
	MOVD p+0(FP), R0
	LDAR (R0), R1             // (A)
	CBZ  R1, none
	MRS  CNTVCT_EL0, R2
	CONVERT
