// SPDX-License-Identifier: MIT OR GPL-2.0
/* The host's part: it runs between two entries of the guest, with nothing else beside it. */
#include <linux/compiler.h>
#include <asm/msr.h>
#include "mover.h"

#define VMMCALL_BYTES 3
#define MSR_BYTES 2
#define IS_WRITE 1

static u64 request(struct vmcb_control_area *control, u64 what, u64 argument)
{
	switch (what) {
	case MOVER_SET_OFFSET:
		control->tsc_offset = argument;
		return 0;
	case MOVER_ADD_OFFSET:
		control->tsc_offset += argument;
		return 0;
	case MOVER_GET_OFFSET:
		return control->tsc_offset;
	default:
		return ~0ULL;
	}
}

/* As the manuals have it: a write of the counter appears in TSC_ADJUST, and the other way round. */
static void write_msr(struct mover *mover, u32 msr, u64 value)
{
	struct vmcb_control_area *control = &mover->vmcb->control;
	u64 by = msr == MSR_IA32_TSC ? value - (rdtsc() + control->tsc_offset) :
				       value - mover->adjust;

	control->tsc_offset += by;
	mover->adjust += by;
}

static void access_msr(struct mover *mover, struct mover_registers *registers)
{
	struct vmcb *vmcb = mover->vmcb;
	u32 msr = registers->rcx;
	u64 value;

	if (vmcb->control.exit_info_1 & IS_WRITE) {
		write_msr(mover, msr, (u32)vmcb->save.rax | registers->rdx << 32);
		return;
	}
	value = msr == MSR_IA32_TSC ? rdtsc() + vmcb->control.tsc_offset : mover->adjust;
	vmcb->save.rax = (u32)value;
	registers->rdx = value >> 32;
}

void mover_exit(struct mover *mover, struct mover_registers *registers)
{
	struct vmcb *vmcb = mover->vmcb;

	switch (vmcb->control.exit_code) {
	case SVM_EXIT_VMMCALL:
		vmcb->save.rax = request(&vmcb->control, vmcb->save.rax, registers->rbx);
		vmcb->save.rip += VMMCALL_BYTES;
		break;
	case SVM_EXIT_MSR:
		access_msr(mover, registers);
		vmcb->save.rip += MSR_BYTES;
		break;
	}
	vmcb->control.event_inj = 0;
	vmcb->control.tlb_ctl = 0;
}
