/* SPDX-License-Identifier: MIT */
/* signal: the dispatcher nearest to the paper's interrupt handler. */
#ifndef TIMEBASE_BENCH_ACCURACY_SIGNAL_H
#define TIMEBASE_BENCH_ACCURACY_SIGNAL_H

#include "accuracy_run.h"

/* A POSIX timer's signal interrupts the thread at its load. */
void bench_run_by_signal(struct bench_run *run);

#endif
