/* SPDX-License-Identifier: MIT */
/*
 * delay_asks: a short delay by the loop that asks memory meanwhile for what the next one needs. Apart
 * from delay_at_once, which is next to the call, so that both are few lines of one page.
 */
#ifndef DELAY_DELAY_ASKS_H
#define DELAY_DELAY_ASKS_H

#include "delay_counted.h"

/*
 * Until `leave`; with `asks` it asks, if it has the time. Returns 0, or 1 if it is late by the time that
 * it polls.
 */
int delay_asks_meanwhile(struct waiter *waiter, uint64_t delay_ns, uint64_t leave, int asks);

/* Until `leave` by a loop with nothing behind it. Returns 0, or 1 if that has passed. */
int delay_bare_loop(uint64_t leave);

/* Asks memory for what a delay by a wait needs, all at once: that takes as long as the furthest
 * line. */
void delay_fetch_wait(const struct waiter *waiter);

#endif
