/* SPDX-License-Identifier: MIT */
/*
 * In place of src/timing/approach/evidence_process.c. In 64-bit mode ES is free, and the timer's
 * interrupt clears it (board/entries_x86_64.S), as a kernel's IRET does. In 32-bit mode it
 * is in use.
 */
#include "timing/approach/evidence.h"

int evidence_may_write_es(void)
{
#ifdef __x86_64__
    return 1;
#else
    return 0;
#endif
}

int evidence_cpu_of_kernel(void)
{
    return 0;
}

/* Nothing stops it when it has used up a share. */
int evidence_is_realtime(void)
{
    return 0;
}
