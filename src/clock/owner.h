/* SPDX-License-Identifier: MIT */
/*
 * owner: who has something that one thread at a time may have, as a word that an atomic exchange
 * can take: the number of its memory (space.h), and below it that of its thread. 0: nobody.
 */
#ifndef CLOCK_OWNER_H
#define CLOCK_OWNER_H

#include <stdbool.h>
#include <stdint.h>

/* Linux numbers threads below 2^22. */
#define OWNER_THREAD_BITS 22

/* The thread that calls this, in its memory. Never 0. */
uint32_t owner_self(void);

/* False for an owner that is in this word only because a fork copied the word. */
static inline bool owner_shares_memory(uint32_t owner, uint32_t self)
{
    return owner >> OWNER_THREAD_BITS == self >> OWNER_THREAD_BITS;
}

/*
 * Nobody, an owner in the memory that a fork copied, or a thread that has ended. Changes errno.
 *
 * Linux numbers threads in turn, so it gives a number again only after all others. If a thread of
 * another process has the number by then, it counts as the owner for as long as it lives.
 */
bool owner_is_gone(uint32_t owner, uint32_t self);

#endif
