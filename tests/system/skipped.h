/* SPDX-License-Identifier: MIT */
/* skipped: tests that this machine cannot run say why, and a program of nothing else exits with 77.
 */
#ifndef TEST_SKIPPED_H
#define TEST_SKIPPED_H

#include "../repeats.h"

enum { SKIPPED = 77 };

static int skipped_tests;

#define skip_because(reason)                                                                       \
    do {                                                                                           \
        print_message("skipped: %s\n", (reason));                                                  \
        skipped_tests++;                                                                           \
        skip();                                                                                    \
    } while (0)

static inline int exit_status(int failed, size_t tests)
{
    return failed == 0 && (size_t)skipped_tests == tests ? SKIPPED : failed;
}

#define run_all(tests)                                                                             \
    exit_status(cmocka_run_group_tests(tests, NULL, NULL), sizeof(tests) / sizeof((tests)[0]))

#endif
