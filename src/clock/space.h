/* SPDX-License-Identifier: MIT */
/*
 * space: which memory is this? A child of fork lives in a copy of its parent's memory, and what a
 * thread of the parent was about to do there nobody will ever finish. A child of vfork or
 * clone(CLONE_VM) lives in the parent's memory itself, and there others are at work. Numbers of
 * processes do not tell the two apart, and in a new pid namespace they begin at 1 again.
 */
#ifndef CLOCK_SPACE_H
#define CLOCK_SPACE_H

#include <stdint.h>

#define SPACE_NUMBERS 1023

/*
 * The number of this memory, 1 to SPACE_NUMBERS: another one than that of the memory it is a copy
 * of. Async-signal-safe. Linux tells of the copy by a page that fork wipes (4.14). Where it does
 * not, a new number of the process counts as a copy, and then processes that share their memory
 * must not share a clock.
 */
uint32_t space_number(void);

#endif
