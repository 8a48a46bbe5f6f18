/* SPDX-License-Identifier: MIT */
/*
 * disruption: somebody outside knows that the machine was disrupted (vmclock's marker has changed,
 * the kernel has given up the counter), though counter and reference have not parted so far that
 * the discipline sees it. Pure.
 */
#ifndef DAEMON_DISRUPTION_H
#define DAEMON_DISRUPTION_H

#include "clock/discipline/discipline.h"

/*
 * What was learnt about the counter's pace is forgotten, but for 500 ppm; readers are told
 * UNRELIABLE for as long as after a jump. Call it before the next sample.
 */
void disruption_apply(struct discipline *discipline);

#endif
