// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A sleep in S3 resets the processors, so each comes back outside. It becomes a guest again before
 * any program goes on. Its counter begins where "wake CPU TICKS" has said, as one that had no power
 * meanwhile begins at 0, and as firmware may set another one; or it has gone on, if "keep CPU 1" has.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/io.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>
#include <asm/msr.h>
#include "mover.h"

/* Among those that come first, with interrupts off; nobody else wants it on this processor. */
#define STATE CPUHP_AP_ARM_CORESIGHT_STARTING

/* A sleep that was only tried resets nothing. */
static bool was_reset(const struct mover *mover)
{
	u64 host_save;

	rdmsrl(MSR_VM_HSAVE_PA, host_save);
	return host_save != virt_to_phys(mover->host_save);
}

static void wake(struct mover *mover)
{
	s64 offset;

	if (!mover || !was_reset(mover))
		return;
	mover->is_guest = false;
	if (!mover->wakes && !mover->keeps)
		return;
	offset = mover->keeps ? mover->vmcb->control.tsc_offset : mover->wakes_at - rdtsc();
	mover->adjust = 0;
	mover_become_guest(mover);
	mover_ask(MOVER_SET_OFFSET, offset);
}

static void wake_first(void)
{
	wake(mover_of(smp_processor_id()));
}

/* Outside of a sleep a CPU that comes back has kept its counter: it stays outside. */
static int come(unsigned int cpu)
{
	if (cpuhp_tasks_frozen)
		wake(mover_of(cpu));
	return 0;
}

static int go(unsigned int cpu)
{
	struct mover *mover = mover_of(cpu);

	if (mover)
		mover->is_guest = false;
	return 0;
}

static struct syscore_ops first = {.resume = wake_first};

int mover_watch_sleep(void)
{
	register_syscore_ops(&first);
	return cpuhp_setup_state_nocalls(STATE, "counter_mover:starting", come, go);
}
