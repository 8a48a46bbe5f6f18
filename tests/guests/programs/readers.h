/* SPDX-License-Identifier: MIT */
/* readers: the clocks that programs compare from one CPU to another, by name. */
#ifndef GUEST_READERS_H
#define GUEST_READERS_H

#include <stdint.h>

#define READERS "counter|kernel|mono"

typedef uint64_t reader(void);

/*
 * counter: ordered ticks, corrected if the process corrects them. kernel: CLOCK_MONOTONIC, in ns.
 * mono: the same by the default clock. Null if no reader has this name.
 */
reader *reader_named(const char *name);

#endif
