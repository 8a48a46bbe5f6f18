/* SPDX-License-Identifier: MIT */
/*
 * next_plan: which plan follows the one in force. Usually one that goes on from it; after the
 * counter and the reference have parted, one that nobody sees time go back on.
 */
#ifndef DISCIPLINE_NEXT_PLAN_H
#define DISCIPLINE_NEXT_PLAN_H

#include "discipline.h"

/* Readers may have followed the plan in force as far as followed_ticks. */
struct plan next_plan(const struct discipline *discipline, const struct schedule *schedule,
                      uint64_t followed_ticks);

#endif
