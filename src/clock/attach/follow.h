/* SPDX-License-Identifier: MIT */
/*
 * follow: reading an attached clock whose lease has ended while another thread has the lock. The
 * reader goes on by the lines without the lock. It compares overdue lines with the kernel's clocks;
 * the lines themselves say when nobody has renewed them for too long.
 */
#ifndef CLOCK_FOLLOW_H
#define CLOCK_FOLLOW_H

#include "mirror.h"

/*
 * The time now. One of three holds: the thread that renews the lines sees this reader's note, and
 * begins its lines above the time that this reader gets; or seq has changed, and there are new
 * lines; or this reader gets no more than the time at the end of the lease.
 */
void follow_lines(struct mirror *mirror, struct timebase_instant *out);

/*
 * Writes the lines, with the status that they have now, into an empty page. False if there are
 * none.
 */
bool follow_judge(struct mirror *mirror, struct timebase_page *page);

#endif
