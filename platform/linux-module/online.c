// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A CPU that comes online is set right before the scheduler may put a program on it: this state is
 * below CPUHP_AP_ACTIVE. Until then the kernel itself reads there what clocksource.c answers for a
 * CPU that is not right. A resume brings the CPUs online in the same way, all but the first.
 */
#include <linux/cpuhotplug.h>
#include <linux/irqflags.h>
#include <linux/smp.h>
#include <linux/suspend.h>
#include "counters.h"

static int state;

static int come(unsigned int cpu)
{
	struct counter *counter = this_cpu_ptr(&counters);
	unsigned long flags;

	if (cpu == FIRST_CPU) {
		counter->is_right = true;
		return 0;
	}
	local_irq_save(flags);
	if (!counter_begin_right(counter, ROUNDS_LOOK))
		keep_alarm();
	local_irq_restore(flags);
	return 0; /* the CPU comes online all the same: its counter is not read */
}

static int go(unsigned int cpu)
{
	per_cpu(counters, cpu).is_right = false;
	return 0;
}

static int at_sleep(struct notifier_block *unused, unsigned long event, void *unused_too)
{
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		keep_pause(true);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		keep_pause(false);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block sleep_notifier = { .notifier_call = at_sleep };

int online_begin(void)
{
	int error = register_pm_notifier(&sleep_notifier);

	if (error)
		return error;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "timebase:online", come, go);
	if (state >= 0)
		return 0;
	unregister_pm_notifier(&sleep_notifier);
	return state;
}

static void nothing(void *unused)
{
}

void online_end(void)
{
	cpuhp_remove_state_nocalls(state);
	unregister_pm_notifier(&sleep_notifier);
	/* Nobody asks CPU 0 any more; behind this are the answers that were not waited for. */
	smp_call_function_single(FIRST_CPU, nothing, NULL, 1);
}
