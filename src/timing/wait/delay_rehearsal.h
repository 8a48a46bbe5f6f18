/* SPDX-License-Identifier: MIT */
/* delay_rehearsal: the next delay's run, while this one polls by cold code. */
#ifndef WAIT_DELAY_REHEARSAL_H
#define WAIT_DELAY_REHEARSAL_H

#include "delay_short.h"

/*
 * So that the code of the next one has been executed: called as everybody calls it, for code on the
 * way is cold as well; and as by a calibration, as what cold code takes contradicts no run. By one
 * run it takes some 0.1 us, by two 0.4. What it would teach is forgotten.
 */
void delay_rehearse_run(struct waiter *waiter, enum delay_way way);

#endif
