// SPDX-License-Identifier: MIT OR GPL-2.0
/* The control block: the guest is to begin in exactly the state in which this CPU is. */
#include <linux/build_bug.h>
#include <linux/io.h>
#include <linux/string.h>
#include <asm/desc.h>
#include <asm/msr.h>
#include <asm/processor-flags.h>
#include <asm/tlbflush.h>
#include "mover.h"

/* Attributes of flat segments, as the control block packs them. */
#define CODE_64 0xa9b
#define DATA_KERNEL 0xc93
#define DATA_USER 0xcf3
#define WHOLE ~0u
#define PAT_DEFAULT 0x0007040600070406ULL
#define DR6_DEFAULT 0xffff0ff0
#define DR7_DEFAULT 0x400
#define ADDRESS_OF_TABLE GENMASK_ULL(51, 12)
#define ENTRIES_OF_KERNEL 256 /* the upper half of the table's 512 */
#define READ_AND_WRITE 3ULL

static void set_segment(struct vmcb_seg *segment, u16 selector, u16 attributes)
{
	segment->selector = selector;
	segment->attrib = attributes;
	segment->limit = attributes ? WHOLE : 0;
	segment->base = 0;
}

static void take_segments(struct vmcb_save_area *save)
{
	u16 selector;

	set_segment(&save->cs, __KERNEL_CS, CODE_64);
	set_segment(&save->ss, __KERNEL_DS, DATA_KERNEL);
	savesegment(ds, selector);
	set_segment(&save->ds, selector, selector ? DATA_USER : 0);
	savesegment(es, selector);
	set_segment(&save->es, selector, selector ? DATA_USER : 0);
}

static void take_tables(struct vmcb_save_area *save)
{
	struct desc_ptr table;

	native_store_gdt(&table);
	save->gdtr.base = table.address;
	save->gdtr.limit = table.size;
	store_idt(&table);
	save->idtr.base = table.address;
	save->idtr.limit = table.size;
}

static void take_registers(struct vmcb_save_area *save)
{
	rdmsrl(MSR_EFER, save->efer);
	save->cr0 = read_cr0();
	save->cr2 = 0;
	save->cr3 = __read_cr3();
	save->cr4 = __read_cr4();
	save->dr6 = DR6_DEFAULT;
	save->dr7 = DR7_DEFAULT;
	save->g_pat = PAT_DEFAULT;
	save->cpl = 0;
}

static void intercept(struct vmcb_control_area *control, int what)
{
	control->intercepts[what / 32] |= 1u << (what % 32);
}

static void intercept_msr(struct mover *mover, u32 msr)
{
	/* Two bits for each of the first 8192 MSRs. */
	mover->msr_permissions[msr / 16] |= READ_AND_WRITE << (2 * (msr % 16));
}

void mover_take_state(struct mover *mover)
{
	struct vmcb *vmcb = mover->vmcb;

	BUILD_BUG_ON(offsetof(struct vmcb, save.rflags) != 0x570);
	BUILD_BUG_ON(offsetof(struct vmcb, save.rip) != 0x578);
	BUILD_BUG_ON(offsetof(struct vmcb, save.rsp) != 0x5d8);
	intercept(&vmcb->control, INTERCEPT_VMRUN); /* SVM demands it */
	intercept(&vmcb->control, INTERCEPT_VMMCALL);
	intercept(&vmcb->control, INTERCEPT_MSR_PROT);
	intercept_msr(mover, MSR_IA32_TSC);
	intercept_msr(mover, MSR_IA32_TSC_ADJUST);
	vmcb->control.msrpm_base_pa = virt_to_phys(mover->msr_permissions);
	vmcb->control.asid = 1;
	vmcb->control.tsc_offset = 0;
	take_segments(&vmcb->save);
	take_tables(&vmcb->save);
	take_registers(&vmcb->save);
}

/* The kernel's half alone: the process that happens to run now may end before the host does. */
u64 mover_host_page_table(struct mover *mover)
{
	u64 *now = phys_to_virt(__read_cr3() & ADDRESS_OF_TABLE);

	memcpy(mover->page_table + ENTRIES_OF_KERNEL, now + ENTRIES_OF_KERNEL,
	       ENTRIES_OF_KERNEL * sizeof(*now));
	return virt_to_phys(mover->page_table);
}
