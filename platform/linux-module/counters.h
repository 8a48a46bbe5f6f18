/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * timebase: the CPUs' time-stamp counters set right, and the kernel's clock by them again.
 *
 *     module.c       load and unload; where the module refuses to run, and why
 *     measure.c      a CPU's counter against CPU 0's, by the library's throws (lane.h, range.c)
 *     set.c          writes the counter until no reader can tell it from CPU 0's
 *     online.c       does so where a CPU comes online, and around a suspend
 *     idle.c         and where it comes out of idle, if its counter may have stood still
 *     keep.c         looks at all of them again and again; offers and withdraws the clocksource
 *     clocksource.c  the clocksource, which programs read without the kernel
 *     show.c         what sysfs tells
 *
 * CPU 0's counter is never written.
 */
#ifndef TIMEBASE_COUNTERS_H
#define TIMEBASE_COUNTERS_H

#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/types.h>
#include "lane.h"

#define FIRST_CPU 0

/* How a counter is written; whatever is seen not to move it is not tried again. */
enum write_by {
	WRITE_ADJUST,	/* IA32_TSC_ADJUST: exact */
	WRITE_COUNTER,	/* IA32_TSC: off by what the write costs, which is learnt */
	WRITE_NOTHING,
};

/* Two CPUs that throw readings to each other: CPU 0, and the one that the counter is of. */
struct game {
	struct lane first, own;
	call_single_data_t ask;
	u32 rounds;
	bool is_asked;		/* CPU 0 has not yet come back from it */
	bool is_over;		/* nobody throws to CPU 0 any more */
	u64 first_deadline, own_deadline;	/* each by that CPU's counter */
	struct skew_range seen_by_first;
};

/* Of one CPU. Only that CPU writes it, with interrupts off. */
struct counter {
	struct game game;
	struct skew_range range;	/* against CPU 0's, when it was measured last */
	u64 least_width;		/* of the ranges of late; 0: none yet */
	u64 measured_jiffies;
	bool is_right;			/* nobody can tell it from CPU 0's */
	u64 right_jiffies;		/* when that was seen last */
	enum write_by write_by;
	s64 write_cost;			/* ticks from the reading to the effect of the write */
	u64 corrections, repetitions, failures;
	s64 corrected_ticks;		/* by the last correction */
};

DECLARE_PER_CPU(struct counter, counters);

enum measurement {
	MEASURED,
	MEASURED_WIDE,	/* the range holds, but none was narrow enough in time */
	UNMEASURED,	/* there was none at all; what was known stays */
};

/* On the CPU itself, with interrupts off. */
enum measurement counter_measure(struct counter *counter, u32 rounds);

enum outcome {
	WAS_RIGHT,	/* or within what a reader may not notice, and is now nearer */
	WAS_CORRECTED,	/* it was certainly wrong; is_right says whether it still is */
	NOT_MEASURED,	/* well enough to tell that it is right */
	NOT_WRITTEN,	/* it is wrong */
};

/* Likewise. */
enum outcome counter_set_right(struct counter *counter, u32 rounds);

/* Likewise, before programs run there: what is not known to be right is not. */
bool counter_begin_right(struct counter *counter, u32 rounds);

/* Enough for the quickest ways there and back to be among them. */
enum { ROUNDS_LOOK = 500, ROUNDS_IDLE = 100 };

int online_begin(void);
void online_end(void);

int idle_begin(void);
void idle_end(void);
/* This CPU, interrupted, is on its way out of idle, and will be set right before programs run. */
bool idle_is_here(void);

/* How things are; the reason is of the last withdrawal. */
enum keep_state { KEEP_MEASURING, KEEP_IN_FORCE, KEEP_PAUSED };
enum keep_reason {
	REASON_NONE,
	REASON_COUNTER_MOVED,	/* a CPU's counter had to be corrected again */
	REASON_NOT_MEASURED,	/* a CPU could not be measured for too long */
	REASON_NOT_WRITTEN,	/* a CPU's counter ignores what is written to it */
	REASON_WATCHDOG,	/* the kernel's watchdog found it to differ from its own */
};

int keep_begin(unsigned int interval_ms);
void keep_end(void);
void keep_pause(bool is_paused);
/* A CPU is not right: withdraw now. From any context. */
void keep_alarm(void);
void keep_watchdog_says_no(void);
enum keep_state keep_state(void);
const char *keep_reason_text(void);
unsigned int keep_withdrawals(void);

/* CPU 0's counter against the kernel's raw clock: from rate_begin() on, on CPU 0. */
void rate_begin(void);
/* -EAGAIN: the rate is not known yet. */
int clock_offer(void);
void clock_withdraw(void);

int show_begin(void);
void show_end(void);

#endif
