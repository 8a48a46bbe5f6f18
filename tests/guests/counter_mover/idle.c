// SPDX-License-Identifier: MIT OR GPL-2.0
/* A counter that stands still while its CPU is idle, as on processors without a non-stop one. */
#include <linux/cpuidle.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/power.h>
#include <asm/msr.h>
#include "mover.h"

static struct tracepoint *cpu_idle;

/* On the CPU itself, with interrupts off. */
static void at_idle(void *unused, unsigned int state, unsigned int cpu)
{
	struct mover *mover = mover_of(cpu);

	if (!mover || !mover->is_guest || !mover->stops_when_idle)
		return;
	if (state != PWR_EVENT_EXIT) {
		mover->idle_since = rdtsc();
		mover->idle_count++;
	} else if (mover->idle_since) {
		u64 slept = rdtsc() - mover->idle_since;

		mover->idle_since = 0;
		mover->idle_ticks += slept;
		mover_ask(MOVER_ADD_OFFSET, -slept);
	}
}

static void find(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "cpu_idle"))
		cpu_idle = tracepoint;
}

int mover_watch_idle(void)
{
	for_each_kernel_tracepoint(find, NULL);
	return cpu_idle ? tracepoint_probe_register(cpu_idle, at_idle, NULL) : -ENOENT;
}
