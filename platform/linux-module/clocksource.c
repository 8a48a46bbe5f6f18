// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * CPU 0's counter as the kernel's clock, on all CPUs. Programs read it themselves, in the vDSO, by
 * the same instruction as the kernel's own `tsc`, which stays thrown away.
 *
 * No owner: a module that owns the current clocksource cannot be unloaded. It is unregistered first,
 * which ends no sooner than all CPUs go by another one.
 */
#include <linux/clocksource.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "counters.h"

#define BRACKETS 10
#define RATE_OVER_NS NSEC_PER_SEC /* a bracket's microsecond is 1 ppm of it */
#define RATING 350 /* above `tsc` as it was, 300 */

struct moment {
	u64 ticks, width;
	u64 raw_ns;
};

static struct moment began;

static struct moment bracket(void)
{
	u64 before = rdtsc_ordered();
	u64 raw_ns = ktime_get_raw_ns();
	u64 width = rdtsc_ordered() - before;

	return (struct moment){ before + width / 2, width, raw_ns };
}

static struct moment narrowest(void)
{
	struct moment best = bracket();
	int i;

	for (i = 1; i < BRACKETS; i++) {
		struct moment another = bracket();

		if (another.width < best.width)
			best = another;
	}
	return best;
}

void rate_begin(void)
{
	began = narrowest();
}

/* The kernel never calibrated a counter again that it threw away when it booted. */
static u32 rate_khz(void)
{
	struct moment now = narrowest();

	if (now.raw_ns - began.raw_ns < RATE_OVER_NS)
		return 0;
	return mul_u64_u64_div_u64(now.ticks - began.ticks, NSEC_PER_MSEC,
				   now.raw_ns - began.raw_ns);
}

/*
 * On a CPU that is not right only the kernel itself runs: it comes online. 0 is before the last
 * tick, where the kernel's clock stands still until the counter has passed.
 */
static u64 read(struct clocksource *unused)
{
	return likely(this_cpu_read(counters.is_right)) ? rdtsc_ordered() : 0;
}

static void be_told(struct clocksource *unused)
{
	keep_watchdog_says_no();
}

static struct clocksource source;

int clock_offer(void)
{
	u32 khz = rate_khz();

	if (!khz)
		return -EAGAIN;
	source = (struct clocksource){
		.name = "timebase",
		.rating = RATING,
		.read = read,
		.mask = CLOCKSOURCE_MASK(64),
		/* The kernel's watchdog goes on comparing it with the HPET. */
		.flags = CLOCK_SOURCE_IS_CONTINUOUS | CLOCK_SOURCE_VALID_FOR_HRES |
			 CLOCK_SOURCE_MUST_VERIFY,
		.vdso_clock_mode = VDSO_CLOCKMODE_TSC,
		.mark_unstable = be_told,
	};
	return clocksource_register_khz(&source, khz);
}

void clock_withdraw(void)
{
	clocksource_unregister(&source);
}
