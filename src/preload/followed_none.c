/* SPDX-License-Identifier: MIT */
/* Processors whose counters agree by architecture: their kernels do not give them up. */
#include "followed.h"

unsigned followed_drawn_sec;
__thread unsigned followed_cheap_calls;

void followed_begin(const char *word)
{
    (void)word;
}

enum followed_mode followed_mode(void)
{
    return FOLLOWED_NEVER;
}

bool followed_read(enum followed which, uint64_t *ns)
{
    (void)which;
    (void)ns;
    followed_cheap_calls = FOLLOWED_CHEAP_CALLS;
    return false;
}

void followed_counts(struct followed_counts *out)
{
    *out = (struct followed_counts){0};
}
