// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A CPU's counter against CPU 0's.
 *
 * CPU 0 answers in an interrupt, so both sides play with interrupts off. An SMI, an NMI or a
 * hypervisor may still take one of them away: that makes some throws late, which is no harm while
 * others are quick, or all of them, which the width of the range shows.
 */
#include <linux/jiffies.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "counters.h"

/* A quiet pair takes a tenth of a millisecond; interrupts are off on both CPUs. */
#define LIMIT_MS 100
/* A range that is wider than this many of the narrowest one was disturbed. */
#define WIDEST 2

DEFINE_PER_CPU(struct counter, counters);

static u64 read_ordered(void)
{
	return rdtsc_ordered();
}

static void relax(void)
{
	cpu_relax();
}

static bool has_passed(u64 deadline)
{
	return (s64)(rdtsc() - deadline) > 0;
}

static bool is_late_for_first(const void *of)
{
	const struct game *game = of;

	return READ_ONCE(game->is_over) || has_passed(game->first_deadline);
}

static bool is_late_for_own(const void *of)
{
	return has_passed(((const struct game *)of)->own_deadline);
}

static const struct lane_player first_player = { read_ordered, relax, is_late_for_first };
static const struct lane_player own_player = { read_ordered, relax, is_late_for_own };

static u64 deadline_from_now(void)
{
	return rdtsc() + (u64)tsc_khz * LIMIT_MS;
}

/* On CPU 0, in an interrupt. */
static void answer(void *of)
{
	struct game *game = of;

	game->first_deadline = deadline_from_now();
	lane_play_here(&first_player, game, &game->first, &game->own, game->rounds,
		       &game->seen_by_first);
	smp_store_release(&game->is_asked, false); /* to the acquires in play() */
}

static bool ask_first(struct game *game, u32 rounds)
{
	if (smp_load_acquire(&game->is_asked))
		return false; /* an answer that was waited for in vain is still to come */
	game->first.turn = 0;
	game->own.turn = 0;
	game->rounds = rounds;
	game->is_over = false;
	game->is_asked = true;
	game->seen_by_first = SKEW_UNKNOWN;
	INIT_CSD(&game->ask, answer, game);
	if (smp_call_function_single_async(FIRST_CPU, &game->ask) == 0)
		return true;
	game->is_asked = false;
	return false;
}

static bool play(struct game *game, u32 rounds, struct skew_range *range)
{
	bool is_played;

	*range = SKEW_UNKNOWN;
	if (!ask_first(game, rounds))
		return false;
	is_played = lane_play_there(&own_player, game, &game->first, &game->own, rounds, range);
	WRITE_ONCE(game->is_over, true);
	while (smp_load_acquire(&game->is_asked)) {
		if (is_late_for_own(game))
			return false;
		cpu_relax();
	}
	range->low_ticks = game->seen_by_first.low_ticks;
	return is_played;
}

static void note(struct counter *counter, const struct skew_range *range)
{
	counter->range = *range;
	counter->measured_jiffies = get_jiffies_64();
}

static bool is_narrow(struct counter *counter, const struct skew_range *range)
{
	u64 width = skew_width(range);

	if (!counter->least_width || width < counter->least_width)
		counter->least_width = width;
	return width <= WIDEST * counter->least_width;
}

enum measurement counter_measure(struct counter *counter, u32 rounds)
{
	struct skew_range range, best = SKEW_UNKNOWN;

	counter->game.own_deadline = deadline_from_now();
	while (play(&counter->game, rounds, &range)) {
		if (skew_is_usable(&range) && is_narrow(counter, &range)) {
			note(counter, &range);
			return MEASURED;
		}
		if (skew_is_usable(&range) && skew_width(&range) < skew_width(&best))
			best = range;
		counter->repetitions++;
		if (is_late_for_own(&counter->game))
			break;
	}
	/* The way between the CPUs may have become longer: processors change their pace. */
	counter->least_width += counter->least_width / 8;
	counter->failures++;
	if (!skew_is_usable(&best))
		return UNMEASURED;
	note(counter, &best);
	return MEASURED_WIDE;
}
