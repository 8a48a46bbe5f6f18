/* SPDX-License-Identifier: MIT */
/* work: the C function of work.toml. cc -shared -fPIC -o libwork.so work.c */
#include <stdint.h>

/* As long as it is in the cache, this takes a few ns. With a time-out it may be left at any
 * instruction: it holds no lock and leaves nothing half-done. */
static volatile unsigned samples[256];

void sample(void *argument)
{
    static unsigned next;
    samples[next++ % 256] = (unsigned)(uintptr_t)argument;
}
