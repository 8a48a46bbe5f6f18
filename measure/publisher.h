/* SPDX-License-Identifier: MIT */
/*
 * publisher: a thread that has the default clock publish new lines 1,000 times a second, to
 * measure readers while that happens. It runs on another CPU than the one that starts it, if there
 * is one.
 */
#ifndef TIMEBASE_BENCH_PUBLISHER_H
#define TIMEBASE_BENCH_PUBLISHER_H

/* Return when the thread is at work, and when it has ended. */
void bench_publisher_start(void);
void bench_publisher_stop(void);

#endif
