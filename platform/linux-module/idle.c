// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A counter that may stand still while its CPU is idle is set right when the CPU comes out of it,
 * before anything but interrupts has run there. CPU 0 is what the others are set by, so it is kept
 * from being idle, by a thread that lets all others go first.
 */
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/power.h>
#include "counters.h"

static struct tracepoint *cpu_idle;
static struct task_struct *waker;

static int stay_awake(void *unused)
{
	while (!kthread_should_stop()) {
		cpu_relax();
		cond_resched();
	}
	return 0;
}

bool idle_is_here(void)
{
	return waker && is_idle_task(current);
}

static void at_idle(void *unused, unsigned int state, unsigned int cpu)
{
	struct counter *counter = this_cpu_ptr(&counters);
	unsigned long flags;

	if (state != PWR_EVENT_EXIT || cpu == FIRST_CPU)
		return;
	local_irq_save(flags);
	if (!counter_begin_right(counter, ROUNDS_IDLE))
		keep_alarm();
	local_irq_restore(flags);
}

static void find(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "cpu_idle"))
		cpu_idle = tracepoint;
}

static int start_waker(void)
{
	waker = kthread_create(stay_awake, NULL, "timebase/awake");
	if (IS_ERR(waker)) {
		int error = PTR_ERR(waker);

		waker = NULL;
		return error;
	}
	kthread_bind(waker, FIRST_CPU);
	sched_set_normal(waker, MAX_NICE);
	wake_up_process(waker);
	return 0;
}

int idle_begin(void)
{
	int error;

	for_each_kernel_tracepoint(find, NULL);
	if (!cpu_idle)
		return -ENOENT;
	error = start_waker();
	if (error)
		return error;
	error = tracepoint_probe_register(cpu_idle, at_idle, NULL);
	if (error)
		kthread_stop(waker);
	return error;
}

void idle_end(void)
{
	tracepoint_probe_unregister(cpu_idle, at_idle, NULL);
	tracepoint_synchronize_unregister();
	kthread_stop(waker);
}
