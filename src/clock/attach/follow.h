/* SPDX-License-Identifier: MIT */
/*
 * follow: an attached clock whose lease has ended, while somebody else is at the lock, or was and
 * is gone. Without the lock: the lines hold on, are held against the kernel's clocks when they are
 * overdue, and say by themselves how long they have not been renewed.
 */
#ifndef CLOCK_FOLLOW_H
#define CLOCK_FOLLOW_H

#include "mirror.h"

/*
 * Now. Either who renews the lines sees the note, and begins above what is given here; or the
 * number has changed, and there are new lines; or no more is given than at the end.
 */
void follow_lines(struct mirror *mirror, struct timebase_instant *out);

/* The lines as they are to be judged now, into an empty page. False if there are none. */
bool follow_judge(struct mirror *mirror, struct timebase_page *page);

#endif
