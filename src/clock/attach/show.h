/* SPDX-License-Identifier: MIT */
/* show: what an attached clock shows of the lines it has copied: never less than it has shown. */
#ifndef CLOCK_SHOW_H
#define CLOCK_SHOW_H

#include "mirror.h"

/*
 * Show lines that were copied no earlier than at now_ticks, and want renewal refresh_ticks after
 * the start of `after`. Locked. Returns 0; TIMEBASE_E_BUSY if they have to wait until what is shown
 * has come to its end; TIMEBASE_E_DISRUPTED if nobody has renewed them, and they have parted from
 * the kernel's clocks, which are shown instead, now or from that end on.
 */
int show_lines(struct mirror *mirror, const struct timebase_lines *lines, uint64_t refresh_ticks,
               uint64_t now_ticks);

#endif
