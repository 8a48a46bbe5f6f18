/* SPDX-License-Identifier: MIT */
/* The formats that src/timing/calendar names; nothing here prints by them (library/refusal.c). */
#ifndef BAREMETAL_INTTYPES_H
#define BAREMETAL_INTTYPES_H

#include <stdint.h>

#ifdef __x86_64__
#define PRId64 "ld"
#define PRIu64 "lu"
#else
#define PRId64 "lld"
#define PRIu64 "llu"
#endif
#define PRIu32 "u"
#define PRIx32 "x"

#endif
