/* SPDX-License-Identifier: MIT */
/* timeout_test: time-outs come by a signal, of a process that nothing else befalls: a child. */
#ifndef TEST_TIMEOUT_TEST_H
#define TEST_TIMEOUT_TEST_H

#include "child.h"

/* The test `name` runs body() in a child. */
#define IN_A_CHILD(name, body)                                                                     \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        if (UNDER_THREAD_SANITIZER)                                                                \
            skip_because("ThreadSanitizer delays signals until it likes");                         \
        child_must_pass(body);                                                                     \
    }

#endif
