/* SPDX-License-Identifier: MIT */
/*
 * next_plan: which plan follows the one in force. Usually the plan goes on from it. After the
 * counter and the reference have parted, the new plan begins so high that nobody sees time go back.
 */
#ifndef DISCIPLINE_NEXT_PLAN_H
#define DISCIPLINE_NEXT_PLAN_H

#include "discipline.h"

/* Readers may have followed the plan in force as far as followed_ticks. */
struct plan next_plan(const struct discipline *discipline, const struct schedule *schedule,
                      uint64_t followed_ticks);

#endif
