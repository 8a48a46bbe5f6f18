/* SPDX-License-Identifier: MIT */
/* plausible: are these lines about this machine, this boot and this namespace? */
#ifndef CLOCK_PLAUSIBLE_H
#define CLOCK_PLAUSIBLE_H

#include <stdint.h>

#include <timebase/page.h>

/*
 * The cheap part: possible periods, this process' counter, and lines that have begun. Returns 0,
 * TIMEBASE_E_FORMAT, TIMEBASE_E_UNSUPPORTED or TIMEBASE_E_STALE.
 */
int plausible_lines(const struct timebase_page *page);

/*
 * All of it: against CLOCK_REALTIME, which is one for all, and CLOCK_MONOTONIC, which a time
 * namespace moves. *mono_offset_ns: how far it has moved it here from where the page's writer is.
 * Returns 0, or as above; TIMEBASE_E_REFERENCE if there is no clock to compare with.
 */
int plausible_page(const struct timebase_page *page, int64_t *mono_offset_ns);

#endif
