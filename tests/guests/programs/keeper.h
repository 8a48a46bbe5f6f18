/* SPDX-License-Identifier: MIT */
/* keeper: corrects the counters by CPU (timebase_cpus_correct()) as long as a program reads them. */
#ifndef GUEST_KEEPER_H
#define GUEST_KEEPER_H

/* Prints "corrected: in force"; exits with 3, and says why, if it is refused. */
void keeper_begin(void);

/* Prints what was found of each CPU, and how often it was corrected. */
void keeper_end(void);

#endif
