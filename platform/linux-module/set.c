// SPDX-License-Identifier: MIT OR GPL-2.0
/* Writes a counter until no reader can tell it from CPU 0's. On the CPU itself, interrupts off. */
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include "counters.h"

/* IA32_TSC may take some attempts: the cost of a write is learnt, and varies. */
#define ATTEMPTS 64
/* A set-back is waited out if it is shorter; while the clocksource is offered it always is. */
#define WAITED_OUT_TICKS 1000000
/* A correction of so many widths shows whether the write has moved the counter. */
#define CERTAIN_WIDTHS 8
#define UNMOVED_WIDTHS 2

/*
 * A reading that has come from one CPU to the other took at least w. The range is the offset plus
 * the quickest way that was seen there, and the offset less the quickest way back, and these two are
 * at least w each. So with an offset beyond w a reader may see time go back; within the narrowest
 * width ever seen, which is 2 w and a little, the offset is not beyond.
 */
static bool is_right(const struct counter *counter)
{
	s64 most = counter->least_width;

	return counter->range.low_ticks >= -most && counter->range.high_ticks <= most;
}

static bool write_adjust(s64 by)
{
	u64 adjust;

	return !rdmsrl_safe(MSR_IA32_TSC_ADJUST, &adjust) &&
	       !wrmsrl_safe(MSR_IA32_TSC_ADJUST, adjust + by);
}

static bool write_counter(s64 by)
{
	return !wrmsrl_safe(MSR_IA32_TSC, rdtsc_ordered() + by);
}

static bool write_in_one_way(const struct counter *counter, s64 by)
{
	switch (counter->write_by) {
	case WRITE_ADJUST:
		return write_adjust(by);
	case WRITE_COUNTER:
		return write_counter(by + counter->write_cost);
	default:
		return false;
	}
}

/* The local timer is armed for a value of this counter, and is moved with it. */
static bool write_ticks(const struct counter *counter, s64 by)
{
	bool has_deadline = boot_cpu_has(X86_FEATURE_TSC_DEADLINE_TIMER);
	u64 deadline = 0;
	bool is_written;

	if (has_deadline)
		rdmsrl(MSR_IA32_TSC_DEADLINE, deadline);
	if (deadline)
		wrmsrl(MSR_IA32_TSC_DEADLINE, 0);
	is_written = write_in_one_way(counter, by);
	if (deadline)
		wrmsrl(MSR_IA32_TSC_DEADLINE, deadline + (is_written ? by : 0));
	return is_written;
}

/* Who reads this counter before and after sees it rise. */
static void wait_out(u64 shown)
{
	while ((s64)(shown - rdtsc_ordered()) > 0 && shown - rdtsc_ordered() < WAITED_OUT_TICKS)
		cpu_relax();
}

/* False: there is no other way to write. */
static bool correct(struct counter *counter, s64 by)
{
	u64 shown = rdtsc_ordered();

	while (!write_ticks(counter, by)) {
		if (counter->write_by == WRITE_NOTHING)
			return false;
		counter->write_by++;
	}
	wait_out(shown);
	counter->corrections++;
	counter->corrected_ticks = by;
	return true;
}

/* From what a correction has left; if nothing has moved, that is what there was to correct. */
static void learn(struct counter *counter, s64 by, s64 left)
{
	s64 width = counter->least_width;

	if (abs(by) > CERTAIN_WIDTHS * width && abs(left + by) <= UNMOVED_WIDTHS * width)
		counter->write_by++;
	else if (counter->write_by == WRITE_COUNTER)
		counter->write_cost -= left;
}

/* Of two CPUs that agree none sees the other's reading before it was taken. */
static bool is_wrong(const struct counter *counter)
{
	return counter->range.low_ticks > 0 || counter->range.high_ticks < 0;
}

/* Once: nothing says how near it is afterwards. Nobody is to wait any longer. */
static enum outcome set_nearer(struct counter *counter)
{
	if (is_wrong(counter)) {
		counter->is_right = false;
		correct(counter, -skew_middle(&counter->range));
	}
	return NOT_MEASURED;
}

enum outcome counter_set_right(struct counter *counter, u32 rounds)
{
	enum outcome outcome = WAS_RIGHT;
	int attempt;
	s64 by = 0;

	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		enum measurement measurement = counter_measure(counter, rounds);

		if (measurement == UNMEASURED)
			return NOT_MEASURED;
		if (attempt > 0)
			learn(counter, by, skew_middle(&counter->range));
		if (measurement == MEASURED_WIDE)
			return set_nearer(counter);
		if (is_wrong(counter))
			outcome = WAS_CORRECTED;
		counter->is_right = is_right(counter);
		if (counter->is_right) {
			counter->right_jiffies = get_jiffies_64();
			return outcome;
		}
		by = -skew_middle(&counter->range);
		if (!correct(counter, by))
			break;
	}
	return counter->write_by == WRITE_NOTHING ? NOT_WRITTEN : WAS_CORRECTED;
}

bool counter_begin_right(struct counter *counter, u32 rounds)
{
	if (counter_set_right(counter, rounds) >= NOT_MEASURED)
		counter->is_right = false;
	return counter->is_right;
}
