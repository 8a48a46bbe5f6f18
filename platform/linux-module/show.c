// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * /sys/kernel/timebase/{state,reason,withdrawals}, and for each CPU
 * /sys/devices/system/cpu/cpuN/timebase/. A CPU's values are of one look or of two: nothing holds
 * the CPU up while they are read.
 */
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>
#include "counters.h"

static const char *const states[] = { "measuring", "in force", "paused" };
static const char *const ways[] = { "TSC_ADJUST", "TSC", "none" };

static ssize_t state_show(struct kobject *unused, struct kobj_attribute *unused_too, char *text)
{
	return sysfs_emit(text, "%s\n", states[keep_state()]);
}

static ssize_t reason_show(struct kobject *unused, struct kobj_attribute *unused_too, char *text)
{
	return sysfs_emit(text, "%s\n", keep_reason_text());
}

static ssize_t withdrawals_show(struct kobject *unused, struct kobj_attribute *unused_too,
				char *text)
{
	return sysfs_emit(text, "%u\n", keep_withdrawals());
}

static struct kobj_attribute state_attribute = __ATTR_RO(state);
static struct kobj_attribute reason_attribute = __ATTR_RO(reason);
static struct kobj_attribute withdrawals_attribute = __ATTR_RO(withdrawals);

static struct attribute *of_all[] = {
	&state_attribute.attr, &reason_attribute.attr, &withdrawals_attribute.attr, NULL,
};
static const struct attribute_group all_group = { .attrs = of_all };

static const struct counter *counter_of(const struct device *cpu)
{
	return per_cpu_ptr(&counters, cpu->id);
}

#define OF_CPU(name, format, value)                                                              \
	static ssize_t name##_show(struct device *cpu, struct device_attribute *unused,          \
				   char *text)                                                   \
	{                                                                                        \
		const struct counter *counter = counter_of(cpu);                                 \
		return sysfs_emit(text, format "\n", value);                                     \
	}                                                                                        \
	static DEVICE_ATTR_RO(name)

OF_CPU(is_right, "%d", counter->is_right);
OF_CPU(offset_ticks, "%lld", (s64)skew_middle(&counter->range));
OF_CPU(error_ticks, "%llu", (u64)skew_width(&counter->range) / 2);
OF_CPU(age_ms, "%llu",
       jiffies64_to_nsecs(get_jiffies_64() - counter->measured_jiffies) / NSEC_PER_MSEC);
OF_CPU(corrections, "%llu", counter->corrections);
OF_CPU(corrected_ticks, "%lld", counter->corrected_ticks);
OF_CPU(repetitions, "%llu", counter->repetitions);
OF_CPU(failures, "%llu", counter->failures);
OF_CPU(write_by, "%s", ways[counter->write_by]);
OF_CPU(write_cost_ticks, "%lld", counter->write_cost);

static struct attribute *of_cpu[] = {
	&dev_attr_is_right.attr,	&dev_attr_offset_ticks.attr,
	&dev_attr_error_ticks.attr,	&dev_attr_age_ms.attr,
	&dev_attr_corrections.attr,	&dev_attr_corrected_ticks.attr,
	&dev_attr_repetitions.attr,	&dev_attr_failures.attr,
	&dev_attr_write_by.attr,	&dev_attr_write_cost_ticks.attr,
	NULL,
};
static const struct attribute_group cpu_group = { .name = "timebase", .attrs = of_cpu };

static struct kobject *folder;

static void hide_cpus(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (get_cpu_device(cpu))
			sysfs_remove_group(&get_cpu_device(cpu)->kobj, &cpu_group);
}

static int show_cpus(void)
{
	unsigned int cpu;
	int error = 0;

	for_each_possible_cpu(cpu)
		if (!error && get_cpu_device(cpu))
			error = sysfs_create_group(&get_cpu_device(cpu)->kobj, &cpu_group);
	return error;
}

int show_begin(void)
{
	int error;

	folder = kobject_create_and_add("timebase", kernel_kobj);
	if (!folder)
		return -ENOMEM;
	error = sysfs_create_group(folder, &all_group);
	if (!error)
		error = show_cpus();
	if (error)
		show_end();
	return error;
}

void show_end(void)
{
	hide_cpus();
	kobject_put(folder);
}
