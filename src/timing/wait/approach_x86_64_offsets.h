/* SPDX-License-Identifier: MIT */
/*
 * Where the fields of struct approach (approach.h) and its numbers are, for assembly on x86-64;
 * approach_x86_64.c asserts all of them.
 */
#ifndef WAIT_APPROACH_X86_64_OFFSETS_H
#define WAIT_APPROACH_X86_64_OFFSETS_H

#define TARGET 0
#define LEAVE 8
#define NOT_BEFORE 16
#define CYCLES_PER_TICK 24
#define FIXED 28
#define STEP 32
#define SLACK 36
#define SAMPLE 40
#define EVENT 48
#define ARGUMENT 56
#define RSEQ 64
#define FRAME 72
#define OFFSETS 80
#define BRIEF_OFFSETS 144
#define EVENT_TICKS 160
#define FIRST 168
#define WIDTH 172
#define RUN 176
#define GAP 180
#define MARKER 184
#define RSEQ_CPU 188
#define RSEQ_MARKER 192
#define OVERDUE 200
#define LATE 204
#define READINGS 208

#define LONGEST_RUN 242 /* APPROACH_LONGEST_RUN: LINKS * 3 + 2 */
#define VERNIER 16      /* APPROACH_VERNIER */
#define BRIEF 4         /* APPROACH_BRIEF */
#define FINE 32         /* APPROACH_FINE */
#define POLLS 2         /* APPROACH_POLLS */

#endif
