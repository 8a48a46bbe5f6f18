/* SPDX-License-Identifier: MIT */
/* threads: what the torture tests share: pinned threads and the length of a run. */
#ifndef INTERLEAVE_THREADS_H
#define INTERLEAVE_THREADS_H

#include <pthread.h>
#include <stdint.h>

/* Start a thread on the index-th CPU this process may use (modulo their number). */
pthread_t threads_start(int index, void *(*run)(void *), void *argument);
void threads_pin(int index);

/* TIMEBASE_TEST_READS, or this many; a tenth of that where code is emulated or instrumented. */
uint64_t threads_reads(uint64_t usual);

#endif
