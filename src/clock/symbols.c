/* SPDX-License-Identifier: MIT */
/*
 * symbols: the inline functions of the headers as real ones, for languages that cannot inline C.
 * One source, two uses.
 */
#define TIMEBASE_INLINE __attribute__((visibility("default")))
#include <timebase.h>
