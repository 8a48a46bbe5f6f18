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
 * All of it. The lines must also agree with CLOCK_REALTIME, which all time namespaces share, and
 * with CLOCK_MONOTONIC, which a time namespace shifts. *mono_offset_ns is CLOCK_MONOTONIC here less
 * that of the page's writer. Returns 0, or as above; TIMEBASE_E_REFERENCE if there is no clock to
 * compare with.
 */
int plausible_page(const struct timebase_page *page, int64_t *mono_offset_ns);

#endif
