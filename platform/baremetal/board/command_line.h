/* SPDX-License-Identifier: MIT */
/*
 * command_line: what the boot loader was told, words of the form name=value,value:
 *
 *     without=hpet,serial   go on although the machine has none; words: invariant-tsc hpet serial
 *                           cpus (there is but one)
 *     only=frequency,loop   these experiments; all if not said
 *     quick=yes             a hundredth of the trials: for emulators
 *     fault=wild-interrupt  raise it, to see what is said; or exception
 *     exit=qemu             end QEMU at the end, by its isa-debug-exit at port 0xf4
 */
#ifndef BOARD_COMMAND_LINE_H
#define BOARD_COMMAND_LINE_H

#include <stdbool.h>

/* The text is kept, not copied; null: none. */
void command_line_begin(const char *text);

/* Is there a word name=..., with this value among those behind it? */
bool command_line_has(const char *name, const char *value);

/* Is there a word name=...? */
bool command_line_names(const char *name);

#endif
