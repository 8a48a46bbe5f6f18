/* SPDX-License-Identifier: MIT */
/* serial: the first serial port, 115,200 baud, 8 bits, no parity: the way out for JSON lines. */
#ifndef BOARD_SERIAL_H
#define BOARD_SERIAL_H

#include <stdbool.h>

/* False if there is none: a byte sent in loop-back mode does not come back. */
bool serial_begin(void);

/* Nothing if there is no port. Waits for room, but not for ever. */
void serial_put(char byte);

#endif
