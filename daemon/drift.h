/* SPDX-License-Identifier: MIT */
/*
 * drift: lines for an oscillator that is worse than the discipline assumes. The discipline's own
 * allowance (ASSUME_DRIFT_PPM) is in its lines; what is configured beyond it is added here. A
 * smaller one is not taken off: the bound is then wider than asked for. Pure.
 */
#ifndef DAEMON_DRIFT_H
#define DAEMON_DRIFT_H

#include "../src/discipline/discipline.h"

void drift_widen(struct timebase_lines *lines, const struct discipline *discipline,
                 uint32_t drift_ppb);

#endif
