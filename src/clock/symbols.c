/* SPDX-License-Identifier: MIT */
/*
 * symbols: the inline functions of the headers as real ones, for languages that cannot inline C.
 * One source, two uses. Those that wait are in timing/wait/wait_symbols.c.
 */
#define TIMEBASE_INLINE __attribute__((visibility("default")))
#include <timebase/clock.h>
#include <timebase/interval.h>
#include <timebase/stopwatch.h>
