// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A counter that runs faster or slower, for programs. The processor refuses them to read it
 * (CR4.TSD), the kernel is about to signal that, and here it is answered instead, by what the counter
 * has drifted until this very reading: the pace is exact, however late anybody is.
 *
 * The kernel's own readings do not drift. They would if each left the guest. But that takes the
 * emulator some 12 us, and this some 2: a range that is wider than 4 us is not read by.
 */
#include <linux/kprobes.h>
#include <linux/math64.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/msr.h>
#include <asm/tlbflush.h>
#include "mover.h"

#define PPB 1000000000

static const u8 rdtsc_code[] = {0x0f, 0x31}, rdtscp_code[] = {0x0f, 0x01, 0xf9};

static s64 drifted(const struct mover *mover, u64 now)
{
	s64 by;

	if (!mover || !mover->drift_ppb)
		return 0;
	by = mul_u64_u32_div(now - mover->drift_since, abs(mover->drift_ppb), PPB);
	return mover->drift_ppb < 0 ? -by : by;
}

s64 mover_drifted(void)
{
	return drifted(mover_of(smp_processor_id()), rdtsc());
}

static bool is_at(const struct pt_regs *program, const u8 *code, size_t size)
{
	u8 found[sizeof(rdtscp_code)];

	return !copy_from_user_nofault(found, (void __user *)program->ip, size) &&
	       !memcmp(found, code, size);
}

/* It may have been moved from the CPU that refused: then it reads here. */
static bool read_for(struct pt_regs *program)
{
	u64 now = rdtsc();

	if (is_at(program, rdtscp_code, sizeof(rdtscp_code))) {
		program->ip += sizeof(rdtscp_code);
		rdmsrl(MSR_TSC_AUX, program->cx);
	} else if (is_at(program, rdtsc_code, sizeof(rdtsc_code))) {
		program->ip += sizeof(rdtsc_code);
	} else {
		return false;
	}
	now += drifted(mover_of(smp_processor_id()), now);
	program->ax = (u32)now;
	program->dx = now >> 32;
	return true;
}

static bool is_mended(void)
{
	return true;
}

static int answer(struct kprobe *probe, struct pt_regs *call)
{
	if (!read_for((struct pt_regs *)call->di))
		return 0;
	call->ip = (unsigned long)is_mended;
	return 1;
}

/* The kernel asks fixup_umip_exception(program) before it signals, whether the fault is mended. */
static struct kprobe question = {
	.symbol_name = "fixup_umip_exception",
	.pre_handler = answer,
};

int mover_watch_refusals(void)
{
	return register_kprobe(&question);
}

/* On the CPU itself, with interrupts off: what it has drifted until now stays. */
static void drift_on(void *ppb)
{
	struct mover *mover = mover_of(smp_processor_id());

	mover_ask(MOVER_ADD_OFFSET, mover_drifted());
	mover->drift_since = rdtsc();
	mover->drift_ppb = *(s64 *)ppb;
	if (mover->drift_ppb)
		cr4_set_bits(X86_CR4_TSD);
	else
		cr4_clear_bits(X86_CR4_TSD);
}

void mover_set_drift(unsigned int cpu, s64 ppb)
{
	smp_call_function_single(cpu, drift_on, &ppb, 1);
}
