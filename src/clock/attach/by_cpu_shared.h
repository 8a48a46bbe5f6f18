/* SPDX-License-Identifier: MIT */
/*
 * by_cpu_shared: the corrections by CPU that lie behind another process' page (by_cpu_file.h),
 * copied into this process. What is corrected is the counter, so there is one table for all of
 * this process' clocks: the first clock that is attached to such a page puts it in force, and the
 * last one that is given back ends it. Each look at the page renews it.
 *
 * Up to the end of a CPU's lines an old copy and a new one show the same (by_cpu.h), and who has
 * only the old one reads the kernel's clock after that. So it does not matter how late a copy is.
 * A table in another file may go on otherwise; then there are no lines for a while in between.
 *
 * A table that nobody renews makes readers wait ever longer, by some ppm of the time. When that is
 * a tenth of a second, all CPUs are read from the kernel's clock from then on, without a wait.
 */
#ifndef CLOCK_BY_CPU_SHARED_H
#define CLOCK_BY_CPU_SHARED_H

#include "shared_file.h"

/*
 * All of this process' ticks are corrected by the file's table from now on; the default clock
 * begins anew. Returns 0; as shared_file_read(); TIMEBASE_E_FORMAT, _STALE or _TORN: it is no
 * table, holds nothing yet or is over, or changes all the time; TIMEBASE_E_UNSUPPORTED: it has more
 * CPUs than can be named, or than there were before, or this process reads another counter, or one
 * that it corrects by itself; TIMEBASE_E_DISRUPTED: the present table is by another reference CPU;
 * TIMEBASE_E_RESOURCE; TIMEBASE_E_BUSY.
 */
int by_cpu_shared_begin(const struct shared_file *file);

/* For each success: this clock reads by it no more. The last one's counter is as it was. */
void by_cpu_shared_end(void);

/* What has become of the table in force. Returns as by_cpu_shared_begin(); never waits. */
int by_cpu_shared_renew(const struct shared_file *file);

#endif
