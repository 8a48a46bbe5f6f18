/* SPDX-License-Identifier: MIT */
/*
 * stop: the ends of a run. Each is a clear line on the screen and on the serial port, then a halt
 * for ever; under QEMU with `exit=qemu` on the command line the emulator ends, too.
 */
#ifndef BOARD_STOP_H
#define BOARD_STOP_H

#include <stdint.h>

/* Something is missing or went wrong: what, in words. */
void stop(const char *text) __attribute__((noreturn));
void stop_with(const char *text, const char *name, uint64_t value) __attribute__((noreturn));

/* All is done. */
void stop_done(void) __attribute__((noreturn));

#endif
