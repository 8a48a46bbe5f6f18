/* SPDX-License-Identifier: MIT */
/*
 * The naive delay as others have it: a function of a library, which by_turns.py compiles. Where
 * that library's code has gone from the caches, the way to it is a part of the delay.
 */
#include <timebase/counter.h>

void called_loop(uint64_t ticks);

void called_loop(uint64_t ticks)
{
    uint64_t start = timebase_arch_ticks();
    while (timebase_arch_ticks() - start < ticks)
        ;
}
