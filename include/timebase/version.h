/* SPDX-License-Identifier: MIT */
/* The version of this library. meson.build reads it from here, so that there is one copy. */
#ifndef TIMEBASE_VERSION_H
#define TIMEBASE_VERSION_H

#define TIMEBASE_VERSION "0.1.0"

/* The same in numbers, for the preprocessor; tests/unit/version.c compares. */
#define TIMEBASE_VERSION_MAJOR 0
#define TIMEBASE_VERSION_MINOR 1
#define TIMEBASE_VERSION_PATCH 0

#endif
