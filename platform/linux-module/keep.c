// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The thread that looks at all counters, and says whether programs may read them.
 *
 * The clocksource is offered after some looks in which no CPU was certainly wrong, and withdrawn at
 * the first in which one was. So a counter that drifts by more than a reader's tolerance from one look
 * to the next never comes so far; and for one that is set or stops later, readers may see time go back
 * until the next look.
 */
#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include "counters.h"

#define CALM_LOOKS 3
/* So many times more after each word of the kernel's watchdog, which knows other reasons than we. */
#define MORE_CALM 4
#define MOST_CALM_LOOKS 100000u
/* A CPU that cannot be measured is still right for so long, if it was. */
#define RIGHT_FOR_SEC 10

static struct task_struct *keeper;
static DECLARE_WAIT_QUEUE_HEAD(wake);
static DEFINE_MUTEX(lock); /* of what is below */
static enum keep_state state;
static enum keep_reason reason;
static unsigned int calm_looks, withdrawals, interval;
static unsigned int calm_looks_needed = CALM_LOOKS;
static bool is_awoken; /* CPU 0's counter may have been set */
static bool is_alarm, is_watchdog; /* from any context */

/* What a look at all CPUs has found: the worst of them. */
struct finding {
	enum keep_reason reason;
	bool is_measured;
};

static void withdraw(enum keep_reason why)
{
	reason = why;
	if (state != KEEP_IN_FORCE)
		return;
	clock_withdraw();
	state = KEEP_MEASURING;
	withdrawals++;
	pr_warn("timebase: the clocksource is withdrawn: %s\n", keep_reason_text());
}

static bool is_outdated(const struct counter *counter)
{
	return !counter->is_right ||
	       time_after64(get_jiffies_64(), counter->right_jiffies + RIGHT_FOR_SEC * HZ);
}

/* On each CPU, in an interrupt. */
static void look_here(void *of_all)
{
	struct counter *counter = this_cpu_ptr(&counters);
	struct finding *finding = of_all;

	switch (counter_set_right(counter, ROUNDS_LOOK)) {
	case WAS_RIGHT:
		break;
	case WAS_CORRECTED:
		if (idle_is_here())
			break; /* and no program has read it */
		finding->reason = REASON_COUNTER_MOVED;
		break;
	case NOT_MEASURED:
		finding->is_measured = false;
		if (is_outdated(counter))
			finding->reason = REASON_NOT_MEASURED;
		break;
	case NOT_WRITTEN:
		finding->reason = REASON_NOT_WRITTEN;
		break;
	}
}

static struct finding look_at_all(void)
{
	struct finding finding = { REASON_NONE, true };
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		if (cpu != FIRST_CPU)
			smp_call_function_single(cpu, look_here, &finding, 1);
	cpus_read_unlock();
	return finding;
}

static void look(void)
{
	struct finding finding = look_at_all();

	if (is_awoken)
		rate_begin();
	is_awoken = false;
	if (finding.reason != REASON_NONE)
		withdraw(finding.reason);
	calm_looks = finding.reason == REASON_NONE && finding.is_measured ? calm_looks + 1 : 0;
	if (state == KEEP_MEASURING && calm_looks >= calm_looks_needed && !clock_offer())
		state = KEEP_IN_FORCE;
}

/* The counter that raised it may meanwhile be right; its readers have seen it wrong. */
static void heed_alarm(void)
{
	if (!xchg(&is_alarm, false))
		return;
	calm_looks = 0;
	if (!xchg(&is_watchdog, false)) {
		withdraw(REASON_NOT_MEASURED);
		return;
	}
	withdraw(REASON_WATCHDOG);
	calm_looks_needed = min(calm_looks_needed * MORE_CALM, MOST_CALM_LOOKS);
}

static int keep(void *unused)
{
	rate_begin();
	while (!kthread_should_stop()) {
		wait_event_interruptible_timeout(
			wake, READ_ONCE(is_alarm) || kthread_should_stop(), interval);
		mutex_lock(&lock);
		heed_alarm();
		if (state != KEEP_PAUSED && !kthread_should_stop())
			look();
		mutex_unlock(&lock);
	}
	return 0;
}

void keep_alarm(void)
{
	WRITE_ONCE(is_alarm, true);
	wake_up(&wake);
}

void keep_watchdog_says_no(void)
{
	WRITE_ONCE(is_watchdog, true);
	keep_alarm();
}

void keep_pause(bool is_paused)
{
	mutex_lock(&lock);
	if (is_paused) {
		if (state == KEEP_IN_FORCE)
			clock_withdraw();
		calm_looks = 0;
		is_awoken = true;
	}
	state = is_paused ? KEEP_PAUSED : KEEP_MEASURING;
	mutex_unlock(&lock);
}

enum keep_state keep_state(void)
{
	return READ_ONCE(state);
}

const char *keep_reason_text(void)
{
	static const char *const texts[] = {
		[REASON_NONE] = "none",
		[REASON_COUNTER_MOVED] = "a counter moved",
		[REASON_NOT_MEASURED] = "a counter could not be measured",
		[REASON_NOT_WRITTEN] = "a counter ignores what is written to it",
		[REASON_WATCHDOG] = "the kernel's watchdog",
	};

	return texts[READ_ONCE(reason)];
}

unsigned int keep_withdrawals(void)
{
	return READ_ONCE(withdrawals);
}

int keep_begin(unsigned int interval_ms)
{
	interval = max(msecs_to_jiffies(interval_ms), 1ul);
	keeper = kthread_create(keep, NULL, "timebase/keep");
	if (IS_ERR(keeper))
		return PTR_ERR(keeper);
	kthread_bind(keeper, FIRST_CPU);
	wake_up_process(keeper);
	return 0;
}

void keep_end(void)
{
	kthread_stop(keeper);
	if (state == KEEP_IN_FORCE)
		clock_withdraw();
}
