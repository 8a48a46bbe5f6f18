/* SPDX-License-Identifier: MIT */
/*
 * hurry_tell: the result of a wait in a hurry. It is written before the loop, as it will be if
 * nothing disturbs it. Behind the loop there is its stamp to be added, and one branch: is all as
 * expected?
 */
#ifndef HURRY_HURRY_TELL_H
#define HURRY_HURRY_TELL_H

#include "hurry_loop.h"

/* A wait that returns with a result. Returns as a wait does; or APPROACH_ENDS_BEHIND. */
int hurry_tell(struct hurried *asked);

/* The result of a call, behind it. Its marks have been looked at. Returns whether it was late. */
int hurry_tell_call(const struct hurried *asked);

#endif
