/* SPDX-License-Identifier: MIT */
/* never_expires: the validity of lines made by hand, for tests to which expiry does not matter. */
#ifndef TEST_NEVER_EXPIRES_H
#define TEST_NEVER_EXPIRES_H

#include <timebase/page.h>

#define NEVER_EXPIRES                                                                              \
    {                                                                                              \
        .silent_ticks = TIMEBASE_PAGE_NEVER, .void_ticks = TIMEBASE_PAGE_NEVER                     \
    }

#endif
