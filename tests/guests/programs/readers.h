/* SPDX-License-Identifier: MIT */
/* readers: the clocks that programs compare from one CPU to another, by name. */
#ifndef GUEST_READERS_H
#define GUEST_READERS_H

#include <stdint.h>

#define READERS "counter|kernel|mono|attached|bounded"

typedef uint64_t reader(void);

/*
 * counter: ordered ticks, corrected if the process corrects them. kernel: CLOCK_MONOTONIC, in ns.
 * mono: the same by the default clock. attached: by the daemon's page; where that cannot be, says why
 * and exits with 3. bounded: the same, and exits with 4 if CLOCK_REALTIME is not where it says. Null
 * if no reader has this name.
 */
reader *reader_named(const char *name);

#endif
