/* SPDX-License-Identifier: MIT */
/* nothing: the action of a unit that only measures its own beginning. */
#ifndef TIMEBASE_NATIVE_NOTHING_H
#define TIMEBASE_NATIVE_NOTHING_H

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

TIMEBASE_API void timebase_nothing(void *ignored);

TIMEBASE_EXTERN_END

#endif
