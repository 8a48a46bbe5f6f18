// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include "mover.h"

#define STACK_ORDER 1
#define STACK_BYTES (PAGE_SIZE << STACK_ORDER)
#define STACK_ROOM 64 /* above the first push, for its alignment */
#define MSR_PERMISSIONS_ORDER 1
#define CPUID_AMD_FEATURES 0x80000001
#define HAS_SVM BIT(2)

static struct mover movers[MOVER_CPUS_MAX];

struct mover *mover_of(unsigned int cpu)
{
	return cpu < MOVER_CPUS_MAX && movers[cpu].vmcb ? &movers[cpu] : NULL;
}

static int allocate(struct mover *mover)
{
	mover->host_save = (void *)get_zeroed_page(GFP_KERNEL);
	mover->stack = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, STACK_ORDER);
	mover->page_table = (void *)get_zeroed_page(GFP_KERNEL);
	mover->msr_permissions =
		(void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, MSR_PERMISSIONS_ORDER);
	mover->vmcb = (void *)get_zeroed_page(GFP_KERNEL);
	if (!mover->host_save || !mover->stack || !mover->page_table || !mover->msr_permissions ||
	    !mover->vmcb)
		return -ENOMEM; /* the machine is too small for the test; nothing is given back */
	mover->vmcb_pa = virt_to_phys(mover->vmcb);
	return 0;
}

void mover_become_guest(void *of_this_cpu)
{
	struct mover *mover = of_this_cpu;
	unsigned long flags;
	u64 efer;

	local_irq_save(flags);
	rdmsrl(MSR_EFER, efer);
	wrmsrl(MSR_EFER, efer | EFER_SVME);
	wrmsrl(MSR_VM_HSAVE_PA, virt_to_phys(mover->host_save));
	mover_take_state(mover);
	mover_enter(mover, mover->vmcb, mover->vmcb_pa, mover->stack + STACK_BYTES - STACK_ROOM,
		    mover_host_page_table(mover));
	mover->is_guest = true;
	local_irq_restore(flags);
}

static int __init mover_init(void)
{
	unsigned int cpu;
	int error;

	if (!(cpuid_ecx(CPUID_AMD_FEATURES) & HAS_SVM)) {
		pr_err("counter_mover: this processor has no SVM (QEMU: -cpu max)\n");
		return -ENODEV;
	}
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (cpu >= MOVER_CPUS_MAX)
			break;
		error = allocate(&movers[cpu]);
		if (error)
			break;
		smp_call_function_single(cpu, mover_become_guest, &movers[cpu], 1);
	}
	cpus_read_unlock();
	__module_get(THIS_MODULE);
	error = mover_watch_idle();
	if (!error)
		error = mover_watch_refusals();
	if (!error)
		error = mover_watch_sleep();
	return error ? error : mover_open_control();
}
module_init(mover_init);
MODULE_DESCRIPTION("Moves the time-stamp counter of single CPUs of a QEMU guest, for tests");
MODULE_LICENSE("Dual MIT/GPL");
