/* SPDX-License-Identifier: MIT */
/* cmocka and what it wants before it. */
#ifndef TEST_CMOCKA_FIRST_H
#define TEST_CMOCKA_FIRST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#endif
