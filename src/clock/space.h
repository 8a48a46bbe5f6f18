/* SPDX-License-Identifier: MIT */
/*
 * space: which memory is this? A child of fork has a copy of its parent's memory: what another
 * thread of the parent had begun, nobody finishes in the copy. A child of vfork or clone(CLONE_VM)
 * is in the parent's memory itself, where the parent's threads go on. Process numbers do not tell
 * the two apart, and they begin at 1 again in a new pid namespace.
 */
#ifndef CLOCK_SPACE_H
#define CLOCK_SPACE_H

#include <stdint.h>

#define SPACE_NUMBERS 1023

/*
 * The number of this memory, 1 to SPACE_NUMBERS. A copy has another number than the memory that was
 * copied. Async-signal-safe; errno stays. Linux shows a copy by a page that fork wipes
 * (since 4.14). Where it does not, a new process number counts as a copy; then processes that share
 * their memory must not share a clock.
 */
uint32_t space_number(void);

#endif
