/* SPDX-License-Identifier: MIT */
/* The version of this library. meson.build reads it from here, so that there is one copy. */
#ifndef TIMEBASE_VERSION_H
#define TIMEBASE_VERSION_H

#define TIMEBASE_VERSION "0.1.0"

#endif
