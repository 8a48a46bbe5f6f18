// SPDX-License-Identifier: MIT OR GPL-2.0
/* /proc/counter_mover: one command a write; reading it shows every CPU. */
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "mover.h"

static void set_offset(void *ticks)
{
	mover_ask(MOVER_SET_OFFSET, *(s64 *)ticks);
}

static void add_offset(void *ticks)
{
	mover_ask(MOVER_ADD_OFFSET, *(s64 *)ticks);
}

static void get_offset(void *ticks)
{
	*(s64 *)ticks = mover_ask(MOVER_GET_OFFSET, 0) + mover_drifted();
}

static int obey(const char *verb, unsigned int cpu, s64 value)
{
	struct mover *mover = mover_of(cpu);

	if (!mover || !mover->is_guest)
		return -ENODEV;
	if (!strcmp(verb, "offset"))
		return smp_call_function_single(cpu, set_offset, &value, 1);
	if (!strcmp(verb, "add"))
		return smp_call_function_single(cpu, add_offset, &value, 1);
	if (!strcmp(verb, "drift")) {
		mover_set_drift(cpu, value * 1000);
		return 0;
	}
	if (!strcmp(verb, "wake")) {
		mover->wakes_at = value;
		mover->wakes = true;
		return 0;
	}
	if (!strcmp(verb, "keep")) {
		mover->keeps = value != 0;
		return 0;
	}
	if (!strcmp(verb, "stop")) {
		mover->stops_when_idle = value != 0;
		return 0;
	}
	return -EINVAL;
}

static ssize_t command(struct file *file, const char __user *text, size_t size, loff_t *place)
{
	char line[64], verb[16];
	unsigned int cpu;
	s64 value;
	int error;

	if (size >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, text, size))
		return -EFAULT;
	line[size] = '\0';
	if (sscanf(line, "%15s %u %lld", verb, &cpu, &value) != 3)
		return -EINVAL;
	error = obey(verb, cpu, value);
	return error ? error : size;
}

static int show(struct seq_file *out, void *unused)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		struct mover *mover = mover_of(cpu);
		s64 offset = 0;

		if (!mover || !mover->is_guest)
			continue;
		smp_call_function_single(cpu, get_offset, &offset, 1);
		seq_printf(out, "cpu %u offset %lld drift_ppb %lld idle_ticks %llu idle_count %llu\n",
			   cpu, offset, mover->drift_ppb, mover->idle_ticks,
			   mover->idle_count);
	}
	return 0;
}

static int open(struct inode *inode, struct file *file)
{
	return single_open(file, show, NULL);
}

static const struct proc_ops operations = {
	.proc_open = open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = command,
};

int mover_open_control(void)
{
	return proc_create("counter_mover", 0600, NULL, &operations) ? 0 : -ENOMEM;
}
