/* SPDX-License-Identifier: MIT */
#include "delay_pass.h"

#include "timing/approach/hide.h"
#include "timing/learn/in_code.h"
#include "timing/learn/within.h"

#include "delay_lesson.h"
#include "delay_short.h"

/* What a run needs is one function in one piece, and all else is apart from it. */
#define IN_ONE_PIECE APPROACH_WAY inline __attribute__((always_inline))
#define APART APPROACH_WAY __attribute__((noinline))

static IN_ONE_PIECE double read_taken(struct waiter *waiter)
{
    waiter->delay_taken_ticks = timebase_ticks_ordered() - waiter->delay_called_ticks;
    return (double)(int64_t)waiter->delay_taken_ticks;
}

/* The next one learns from it. */
static IN_ONE_PIECE void read_end(struct waiter *waiter)
{
    read_taken(waiter);
    waiter->lesson.taken_ticks = (int64_t)waiter->delay_taken_ticks;
}

/* Before its end: behind that there is nothing but the last reading. It should take so long. */
static IN_ONE_PIECE void note_lesson(const struct short_delay *delay, double ticks, double cycles,
                                     double slack_ticks)
{
    int way = delay->code == DELAY_CODE_NEAR ? DELAY_AFTER_PAUSE : delay->way;
    delay->waiter->lesson = (struct delay_lesson){
        .of = delay_learnt_of(delay, way),
        .expected_ticks = ticks - delay_learnt_of(delay, delay->way)->after_ticks,
        .cycles = cycles,
        .slack_ticks = slack_ticks,
        .code = delay->code};
}

/* ---- by the loop -------------------------------------------------------------------------- */

static IN_ONE_PIECE uint64_t leave_of(const struct short_delay *delay)
{
    double before = delay_learnt_of(delay, DELAY_BY_LOOP)->fixed_ticks;
    return delay->waiter->delay_called_ticks + (uint64_t)(int64_t)(delay->ticks - before);
}

static IN_ONE_PIECE void poll_until(uint64_t leave)
{
    while ((int64_t)(timebase_ticks() - leave) < 0)
        continue;
}

static APART int by_loop(struct short_delay *delay)
{
    uint64_t leave = leave_of(delay);
    delay->way = DELAY_BY_LOOP;
    int late = (int64_t)(timebase_ticks() - leave) >= 0;
    if (!late && delay_is_soon_after(delay->code))
        note_lesson(delay, delay->ticks, 0, 0);
    poll_until(leave);
    read_end(delay->waiter);
    return late;
}

/* ---- by runs ------------------------------------------------------------------------------ */

/* What a delay takes longer after a pause. */
static IN_ONE_PIECE double pause_ticks(const struct short_delay *delay)
{
    if (delay->code != DELAY_CODE_NEAR)
        return 0;
    return delay_learnt_of(delay, DELAY_AFTER_PAUSE)->fixed_ticks -
        delay_learnt_of(delay, DELAY_BY_RUN)->fixed_ticks;
}

/* Cycles that are left for instructions, to the nearest one. */
static IN_ONE_PIECE double cycles_left(const struct short_delay *delay, double fixed_ticks)
{
    double left_ticks = delay->ticks - fixed_ticks - pause_ticks(delay);
    return left_ticks / delay->waiter->learnt.delay_cycle_ticks + in_code(0.5);
}

static IN_ONE_PIECE void run(const struct waiter *waiter, double cycles)
{
    waiter->ways.run((uint64_t)(int64_t)cycles);
}

/*
 * Of a run that is tried so many cycles are left to the loop: as many as a neighbour may make the
 * rest longer, and no less than the loop needs for its end. 0: there is no time for it. To find out
 * is hidden, so there is no division.
 */
static IN_ONE_PIECE double spare_of(const struct short_delay *delay, double cycles)
{
    const struct waiter_learnt *learnt = &delay->waiter->learnt;
    double end_ticks = (double)learnt->last_ticks;
    int64_t whole = (int64_t)cycles;
    double spare = (double)(whole * 3 / 8);
    if (spare * learnt->delay_cycle_ticks < end_ticks)
        spare = (double)(whole * 3 / 4);
    return spare * learnt->delay_cycle_ticks < end_ticks ? 0 : spare;
}

/* The lesson stays the run's. */
static IN_ONE_PIECE int end_tried(struct short_delay *delay)
{
    uint64_t leave = leave_of(delay);
    delay->way = DELAY_BY_LOOP;
    int late = (int64_t)(timebase_ticks() - leave) >= 0;
    poll_until(leave);
    read_taken(delay->waiter);
    return late;
}

/* The last one, or the only one: it ends `spare` cycles before the delay. */
static IN_ONE_PIECE int end_run(struct short_delay *delay, double cycles, double spare,
                                double slack_ticks)
{
    struct waiter *waiter = delay->waiter;
    double ticks = delay->ticks - spare * waiter->learnt.delay_cycle_ticks;
    int late = 0;
    note_lesson(delay, ticks, cycles, slack_ticks);
    run(waiter, cycles);
    read_end(waiter);
    if (__builtin_expect(delay->is_tried, 0))
        late = end_tried(delay);
    __asm__ volatile("" : "+r"(late)); /* by one return: that has to be near as well */
    return late;
}

/* Too short for anything else than its instructions. */
static APART int unchecked(const struct short_delay *delay)
{
    double cycles = cycles_left(delay, delay->waiter->learnt.delay_fixed_ticks);
    run(delay->waiter, cycles < 1 ? 0 : cycles);
    return cycles < 1;
}

/*
 * What there is beside a run takes longer than the delay, by what was learnt: beside a neighbour,
 * perhaps. It takes no more than it has just taken, to a step. If it does, the loop has turns.
 */
static APART int without_run(struct short_delay *delay)
{
    struct waiter *waiter = delay->waiter;
    struct waiter_delay *one = delay_learnt_of(delay, DELAY_BY_RUN);
    double most = read_taken(waiter) + one->after_ticks + waiter->vernier.step_ticks;
    if (delay->code == DELAY_CODE_NEAR)
        caution_doubles(&waiter->far_code);
    else if (most < one->fixed_ticks)
        one->fixed_ticks = most;
    else
        caution_doubles(&waiter->contradicted_run);
    return by_loop(delay);
}

/* Was the first run of two, of so many cycles, held up? To find out is hidden. */
static IN_ONE_PIECE int was_held_up(struct short_delay *delay, double cycles, double slack_ticks)
{
    struct waiter *waiter = delay->waiter;
    struct waiter_delay *between = &waiter->learnt.between[delay->measured];
    double taken = read_taken(waiter);
    APPROACH_HIDE(10);
    double known = between->fixed_ticks + pause_ticks(delay);
    double wrong = taken - known - cycles * waiter->learnt.delay_cycle_ticks;
    wrong = beyond(slack_ticks, wrong);
    delay->was_held_up = delay_follow(waiter, between, wrong, cycles, delay->code);
    return delay->was_held_up;
}

/* Of two runs the first; less than one: there is no time for both. */
static IN_ONE_PIECE double first_of(const struct short_delay *delay, double cycles)
{
    const struct waiter_learnt *learnt = &delay->waiter->learnt;
    double last = in_code(DELAY_LAST_NS) / (learnt->period_ns * learnt->delay_cycle_ticks);
    return (double)(int64_t)(cycles - last);
}

/* Tells how many cycles both have; the first is 0 where there is time for one alone. */
static IN_ONE_PIECE double share_out(struct short_delay *delay, double *first)
{
    double cycles = cycles_left(delay, delay_learnt_of(delay, delay->way)->fixed_ticks);
    *first = 0;
    if (delay->way == DELAY_BY_RUN)
        return cycles;
    *first = first_of(delay, cycles);
    if (*first >= in_code(1))
        return cycles;
    *first = 0;
    delay->way = DELAY_BY_RUN;
    return cycles_left(delay, delay_learnt_of(delay, DELAY_BY_RUN)->fixed_ticks);
}

/*
 * There is time between two of them for the loop, should it have to make up for the first. What is
 * tried is shorter than usual, the first one where there are two: so it may be off by as much as
 * a cycle is.
 */
static IN_ONE_PIECE int by_runs(struct short_delay *delay)
{
    double one = in_code(1), first, spare = 0, slack = 0, cycles = share_out(delay, &first);
    if (__builtin_expect(delay->is_tried, 0)) {
        spare = spare_of(delay, cycles);
        delay->is_tried = spare >= one;
        if (first >= one && spare > first - one)
            spare = first - one;
        cycles -= spare;
        first -= first >= one ? spare : 0;
        slack = spare * delay->waiter->learnt.delay_cycle_ticks * in_code(DELAY_WRONG_CYCLE);
    }
    if (first >= one) {
        run(delay->waiter, first);
        if (was_held_up(delay, first, slack))
            return by_loop(delay);
        cycles -= first;
        slack = 0;
    }
    return cycles >= one ? end_run(delay, cycles, spare, slack) : without_run(delay);
}

APPROACH_WAY int delay_pass(struct short_delay *delay)
{
    if (delay->way == DELAY_BY_RUN || delay->way == DELAY_BY_TWO_RUNS)
        return by_runs(delay);
    return delay->way == DELAY_UNCHECKED ? unchecked(delay) : by_loop(delay);
}
