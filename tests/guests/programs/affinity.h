/* SPDX-License-Identifier: MIT */
/* affinity: puts a thread on a CPU. */
#ifndef GUEST_AFFINITY_H
#define GUEST_AFFINITY_H

/* This thread runs on that CPU from now on. Returns 0, or -1 and errno. */
int go_to(int cpu);

#endif
