/* SPDX-License-Identifier: MIT */
/*
 * What the compiler itself may call, and what it turns calls of these into. A freestanding compiler takes
 * nothing for granted of functions that only have these names, and calls them for eight bytes as well; so it is
 * told that they are its own.
 */
#ifndef BAREMETAL_STRING_H
#define BAREMETAL_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

#define memcpy(to, from, size) __builtin_memcpy(to, from, size)
#define memset(to, byte, size) __builtin_memset(to, byte, size)

#endif
