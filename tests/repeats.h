/* SPDX-License-Identifier: MIT */
/*
 * repeats: how often a test tries what differs by its dice alone. Emulated and under
 * ThreadSanitizer a tenth is enough: what another processor or a race gets wrong is wrong in each
 * of them, and all of them are tried natively and under AddressSanitizer.
 */
#ifndef TESTS_REPEATS_H
#define TESTS_REPEATS_H

#include "emulated.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#endif
#endif
#ifndef UNDER_THREAD_SANITIZER
#define UNDER_THREAD_SANITIZER 0
#endif

static inline int repeats(int natively)
{
    return UNDER_THREAD_SANITIZER || is_emulated() ? (natively + 9) / 10 : natively;
}

#endif
