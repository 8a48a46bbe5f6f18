/* SPDX-License-Identifier: MIT */
#include "nothing.h"

void timebase_nothing(void *ignored)
{
    (void)ignored;
}
