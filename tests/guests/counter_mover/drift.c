// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A counter that runs faster or slower: every PERIOD_NS it is moved by what it has drifted since.
 * At 50 ppm that is some 30 ticks, less than two readings of it are apart, so that no reader sees a
 * step. Where the emulator is held up the timer is late, and the step larger: /proc/counter_mover has
 * the largest one since the drift began.
 */
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <asm/msr.h>
#include "mover.h"

#define PERIOD_NS 250000
#define PPB 1000000000

static DEFINE_PER_CPU(struct hrtimer, drift_timer);

static enum hrtimer_restart drift_on(struct hrtimer *timer)
{
	struct mover *mover = mover_of(smp_processor_id());
	u64 now = rdtsc();
	s64 by = (s64)(now - mover->drift_last) * mover->drift_ppb + mover->drift_left;
	s64 ticks = div64_s64(by, PPB);

	mover->drift_left = by - ticks * PPB;
	mover->drift_most = max(mover->drift_most, abs(ticks));
	mover_ask(MOVER_ADD_OFFSET, ticks);
	mover->drift_last = now + ticks;
	hrtimer_forward_now(timer, ns_to_ktime(PERIOD_NS));
	return mover->drift_ppb ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static void start(void *ppb)
{
	struct mover *mover = mover_of(smp_processor_id());
	struct hrtimer *timer = this_cpu_ptr(&drift_timer);
	bool was_running = mover->drift_ppb != 0;

	mover->drift_ppb = *(s64 *)ppb;
	if (was_running || !mover->drift_ppb)
		return;
	mover->drift_last = rdtsc();
	mover->drift_most = 0;
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = drift_on;
	hrtimer_start(timer, ns_to_ktime(PERIOD_NS), HRTIMER_MODE_REL_PINNED_HARD);
}

void mover_set_drift(unsigned int cpu, s64 ppb)
{
	smp_call_function_single(cpu, start, &ppb, 1);
}
