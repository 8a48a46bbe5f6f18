// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/module.h>
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#include "counters.h"

static bool force;
module_param(force, bool, 0444);
MODULE_PARM_DESC(force, "run in a guest without TSC_ADJUST, or on a counter of no constant pace");

static bool adjust = true;
module_param(adjust, bool, 0444);
MODULE_PARM_DESC(adjust, "write IA32_TSC_ADJUST where there is one; 0: IA32_TSC at once");

static int idle = -1;
module_param(idle, int, 0444);
MODULE_PARM_DESC(idle, "set counters right after idle: 1, 0, or -1 where they may stop in it");

static unsigned int interval_ms = 500;
module_param(interval_ms, uint, 0444);
MODULE_PARM_DESC(interval_ms, "how often all counters are looked at");

struct refusal {
	const char *why;
	int error;
};

static struct refusal refusal(void)
{
	if (!boot_cpu_has(X86_FEATURE_TSC))
		return (struct refusal){ "there is no time-stamp counter", -ENODEV };
	if (!check_tsc_unstable())
		return (struct refusal){ "the kernel trusts the counter, so nothing is to be mended",
					 -EBUSY };
	if (!force && boot_cpu_has(X86_FEATURE_HYPERVISOR) &&
	    !boot_cpu_has(X86_FEATURE_TSC_ADJUST))
		return (struct refusal){ "a guest without TSC_ADJUST (force=1 to try)", -EPERM };
	if (!force && !boot_cpu_has(X86_FEATURE_CONSTANT_TSC))
		return (struct refusal){
			"the counter's pace varies with the processor's (force=1 to try)",
			-EOPNOTSUPP };
	return (struct refusal){ NULL, 0 };
}

static bool may_stop_in_idle(void)
{
	return idle < 0 ? !boot_cpu_has(X86_FEATURE_NONSTOP_TSC) : idle != 0;
}

static bool watches_idle;

/* What sets counters right begins before the clocksource may be offered, and ends after it. */
static void end_setting(void)
{
	if (watches_idle)
		idle_end();
	online_end();
}

static int begin_setting(void)
{
	int error = online_begin();

	if (error || !may_stop_in_idle())
		return error;
	error = idle_begin();
	if (error)
		online_end();
	watches_idle = !error;
	return error;
}

static int begin(void)
{
	int error = begin_setting();

	if (error)
		return error;
	error = keep_begin(interval_ms);
	if (error)
		end_setting();
	return error;
}

static int __init timebase_init(void)
{
	struct refusal found = refusal();
	unsigned int cpu;
	int error;

	if (found.why) {
		pr_err("timebase: refused: %s\n", found.why);
		return found.error;
	}
	for_each_possible_cpu(cpu)
		per_cpu(counters, cpu).write_by = adjust ? WRITE_ADJUST : WRITE_COUNTER;
	error = show_begin();
	if (error)
		return error;
	error = begin();
	if (error)
		show_end();
	return error;
}
module_init(timebase_init);

static void __exit timebase_exit(void)
{
	keep_end();
	end_setting();
	show_end();
}
module_exit(timebase_exit);

MODULE_DESCRIPTION("Sets the CPUs' time-stamp counters right, and keeps the kernel's clock by them");
MODULE_LICENSE("Dual MIT/GPL");
