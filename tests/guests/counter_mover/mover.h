/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * counter_mover: moves the time-stamp counter of single CPUs, for tests in QEMU.
 *
 * QEMU's emulated processor ignores writes to the counter. It does emulate SVM, AMD's
 * virtualization, and there the counter of a guest is the counter of its host plus an offset in
 * the control block, for every RDTSC and RDTSCP at no cost. So the module makes the running
 * kernel a guest of itself, CPU by CPU, and keeps for the host no more than a loop that enters the
 * guest again. Whatever shall change the offset asks that loop by VMMCALL.
 *
 *     module.c         sets up each CPU; what is kept of it
 *     machine_state.c  the control block: the state in which the CPU just is
 *     enter.S          becomes a guest, and the loop around it
 *     exits.c          what the guest cannot do by itself: requests, writes of the counter's MSRs
 *     control.c        /proc/counter_mover: "offset CPU TICKS", "stop CPU 0|1", "drift CPU PPM",
 *                      "add CPU TICKS", "wake CPU TICKS", "keep CPU 0|1"
 *     idle.c           a counter that stands still while its CPU is idle
 *     drift.c          a counter that runs faster or slower, for programs
 *     wake.c           a counter that has lost its power while the machine slept
 *
 * It cannot be unloaded: nobody could leave the guest. A CPU that is taken offline and back begins
 * anew, outside of it; so does each after a sleep in S3, but where "wake" or "keep" asks for more.
 */
#ifndef COUNTER_MOVER_H
#define COUNTER_MOVER_H

#include <linux/types.h>
#include <asm/svm.h>

#define MOVER_CPUS_MAX 64

struct mover {
	struct vmcb *vmcb;
	u64 vmcb_pa;
	void *host_save;	/* where the processor keeps the host's state */
	void *stack;		/* the host's own */
	u64 *page_table;	/* and its own: processes of the guest come and go */
	u32 *msr_permissions;
	u64 adjust;		/* IA32_TSC_ADJUST as the guest sees it */
	bool is_guest;
	/* idle.c */
	bool stops_when_idle;
	u64 idle_since, idle_ticks, idle_count;
	/* drift.c */
	s64 drift_ppb;
	u64 drift_since; /* by the kernel's readings, which do not drift */
	/* wake.c */
	bool wakes, keeps;
	s64 wakes_at;
};

/* What the guest asks the loop for, in RAX; the argument is in RBX. */
enum mover_request {
	MOVER_SET_OFFSET = 0x6d6f7601,
	MOVER_ADD_OFFSET = 0x6d6f7602,
	MOVER_GET_OFFSET = 0x6d6f7603,
};

/* The general registers as enter.S leaves them on the host's stack; RAX is in the control block. */
struct mover_registers {
	u64 r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx;
};

/* NULL for a CPU that has none. */
struct mover *mover_of(unsigned int cpu);

/* From within the guest, on its own CPU, with interrupts off or not able to migrate. */
static inline long mover_ask(enum mover_request request, u64 argument)
{
	long answer;

	asm volatile("vmmcall" : "=a"(answer) : "a"((u64)request), "b"(argument) : "memory");
	return answer;
}

/* On the CPU that becomes one; interrupts are off meanwhile. Its counter is not moved yet. */
void mover_become_guest(void *of_this_cpu);
void mover_take_state(struct mover *mover);
u64 mover_host_page_table(struct mover *mover);
void mover_enter(struct mover *mover, struct vmcb *vmcb, u64 vmcb_pa, void *stack_top,
		 u64 page_table);
void mover_exit(struct mover *mover, struct mover_registers *registers);

int mover_open_control(void);
int mover_watch_idle(void);
int mover_watch_refusals(void);
s64 mover_drifted(void);
void mover_set_drift(unsigned int cpu, s64 ppb);
int mover_watch_sleep(void);

#endif
