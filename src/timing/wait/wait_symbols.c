/* SPDX-License-Identifier: MIT */
/* wait_symbols: what wait.h has inline as real functions, as clock/symbols.c has the others. */
#include <timebase/clock.h> /* these are not defined here */

#undef TIMEBASE_INLINE
#define TIMEBASE_INLINE __attribute__((visibility("default")))
#include <timebase/wait.h>
