/* SPDX-License-Identifier: MIT */
/* screen: the text screen that a PC's BIOS leaves, 80 x 25 at 0xb8000. Lines for people. */
#ifndef BOARD_SCREEN_H
#define BOARD_SCREEN_H

void screen_clear(void);

/* At the end of what is there; "\n" begins a line, and the last line scrolls the others up. */
void screen_text(const char *text);

#endif
