/* SPDX-License-Identifier: MIT */
/* How long a cycle is: noise moves it little, a step of the core clock is believed soon. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "stepped.h"
#include "timing/learn/tempo.h"

#define CYCLES 1300.0
#define CYCLE 0.7 /* ticks, at first */

static struct dice dice;

/* Machines: the cycles from sample to event, ticks a cycle, and what the counter steps by. */
struct machine {
    double cycles, cycle;
    uint64_t step;
};
static const struct machine machines[] = {
    {300, 0.70, 1},  /* AMD; the vernier knows when the last poll was to a tick */
    {120, 0.83, 2},  /* Intel: one reading, a counter of 2.5 GHz in steps of 0.8 ns, 3 GHz */
    {120, 0.83, 1},  /* the same in steps of 0.4 ns */
    {120, 0.55, 1},  /* a counter of 2.1 GHz, 3.8 GHz */
};
enum { MACHINES = sizeof(machines) / sizeof(machines[0]) };

/* Both ends are read from the counter. */
static void learn_on(const struct machine *machine, struct tempo *tempo, double cycle)
{
    struct stepped counter = {machine->step, 0};
    double first = dice_between(&dice, 1e6, 1e3);
    uint64_t begin = stepped_read(&counter, first);
    uint64_t end = stepped_read(&counter, first + machine->cycles * cycle);
    tempo_learn(tempo, (double)(end - begin), machine->cycles, 0);
}

static double wrong_on(const struct machine *machine, const struct tempo *tempo, double cycle)
{
    return fabs(tempo->cycle_ticks - cycle) * machine->cycles;
}

/* A step of the core clock that a wait can see at all. */
static void each_machines_clock_is_followed(void **state)
{
    (void)state;
    for (int m = 0; m < MACHINES; m++) {
        const struct machine *machine = &machines[m];
        for (double change = 0.7; change < 1.4; change += 0.01) {
            struct tempo tempo;
            double cycle = machine->cycle * change;
            tempo_init(&tempo, machine->cycle);
            int is_step = fabs(change - 1) * machine->cycles * machine->cycle > 10;
            for (int i = 0; i < (is_step ? 3 : 40); i++)
                learn_on(machine, &tempo, cycle);
            assert_true(wrong_on(machine, &tempo, cycle) < 3);
        }
    }
}

/* The counter's own steps, however they fall: less than one of them, some 0.4 ns, and no drift. */
static void each_machines_steps_move_it_by_less_than_a_step(void **state)
{
    (void)state;
    for (int m = 0; m < MACHINES; m++) {
        const struct machine *machine = &machines[m];
        struct tempo tempo;
        double sum = 0;
        tempo_init(&tempo, machine->cycle);
        for (int i = 0; i < 20000; i++) {
            learn_on(machine, &tempo, machine->cycle);
            assert_true(wrong_on(machine, &tempo, machine->cycle) < (double)machine->step);
            sum += tempo.cycle_ticks;
        }
        assert_true(fabs(sum / 20000 - machine->cycle) * machine->cycles < 0.1);
    }
}

static void learn(struct tempo *tempo, double cycle, double noise_ticks, double bound_ticks)
{
    double noise = dice_between(&dice, -noise_ticks, 2 * noise_ticks + 1e-12);
    tempo_learn(tempo, CYCLES * cycle + noise, CYCLES, bound_ticks);
}

static double wrong_ticks(const struct tempo *tempo, double cycle)
{
    return fabs(tempo->cycle_ticks - cycle) * CYCLES;
}

static void a_step_of_the_clock_is_believed_after_three(void **state)
{
    (void)state;
    for (double change = 0.75; change < 1.4; change += 0.01) {
        struct tempo tempo;
        if (fabs(change - 1) < 0.02)
            continue;
        tempo_init(&tempo, CYCLE);
        for (int i = 0; i < 3; i++)
            learn(&tempo, CYCLE * change, 1, 0);
        assert_true(wrong_ticks(&tempo, CYCLE * change) < 2);
    }
}

static void two_that_were_held_up_move_it_by_half_a_tick_at_most(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct tempo tempo;
        tempo_init(&tempo, CYCLE);
        learn(&tempo, CYCLE * dice_between(&dice, 1, 100), 0, 0);
        learn(&tempo, CYCLE * dice_between(&dice, 1, 100), 0, 0);
        assert_true(wrong_ticks(&tempo, CYCLE) <= 0.5 + 1e-9);
    }
}

/* However wild: it stays a number that waits can be reckoned by. */
static void no_times_make_it_more_than_twice_as_long_at_once(void **state)
{
    struct tempo tempo;
    (void)state;
    tempo_init(&tempo, CYCLE);
    for (int i = 0; i < 2000; i++) {
        double before = tempo.cycle_ticks;
        tempo_learn(&tempo, (double)(int64_t)dice_wide(&dice), CYCLES, 0);
        assert_true(tempo.cycle_ticks > 0);
        assert_true(tempo.cycle_ticks <= before * 2.1 && tempo.cycle_ticks >= before / 2.1);
    }
}

static void noise_does_not_pull_it_to_either_side(void **state)
{
    struct tempo tempo;
    double sum = 0;
    (void)state;
    tempo_init(&tempo, CYCLE);
    for (int i = 0; i < 50000; i++) {
        learn(&tempo, CYCLE, 2, 0);
        sum += tempo.cycle_ticks;
    }
    assert_true(fabs(sum / 50000 - CYCLE) * CYCLES < 0.05);
}

static void what_agrees_within_its_bound_teaches_nothing(void **state)
{
    struct tempo tempo;
    (void)state;
    tempo_init(&tempo, CYCLE);
    for (int i = 0; i < 2000; i++)
        learn(&tempo, CYCLE, 12, 12.5);
    assert_true(tempo.cycle_ticks == CYCLE);
    for (int i = 0; i < 2000; i++)
        learn(&tempo, CYCLE * 1.05, 12, 12.5);
    assert_true(wrong_ticks(&tempo, CYCLE * 1.05) < 12.5);
}

/* ---- the tail ------------------------------------------------------------------------------ */

#define LONGEST_RUN 150.0
#define TAIL 250.0

/* As a waiter learns from runs of any length. */
static void learn_tail(struct tempo *tempo, struct tempo_tail *tail, double cycle, double true_tail,
                       double noise_ticks)
{
    double run = dice_between(&dice, 0, LONGEST_RUN), cycles = tail->cycles + run;
    double ticks = (true_tail + run) * cycle;
    ticks += dice_between(&dice, -noise_ticks, 2 * noise_ticks + 1e-12);
    double wrong = ticks - cycles * tempo->cycle_ticks;
    tempo_learn(tempo, ticks, cycles, 0);
    tempo_learn_tail(tempo, tail, wrong, run, LONGEST_RUN);
}

static double most_wrong(const struct tempo *tempo, const struct tempo_tail *tail, double cycle,
                         double true_tail)
{
    double most = 0;
    for (double run = 0; run <= LONGEST_RUN; run += LONGEST_RUN / 2) {
        double wrong = (tail->cycles + run) * tempo->cycle_ticks - (true_tail + run) * cycle;
        most = fabs(wrong) > most ? fabs(wrong) : most;
    }
    return most;
}

/* A calibration beside a busy neighbour, and waits without one; and the other way round. */
static void runs_of_all_lengths_end_in_time_whatever_the_tail_was(void **state)
{
    (void)state;
    for (double first = 0.75; first < 1.45; first += 0.05) {
        struct tempo tempo;
        struct tempo_tail tail = {.cycles = TAIL * first, .first_cycles = TAIL * first};
        tempo_init(&tempo, CYCLE);
        for (int i = 0; i < 1000; i++)
            learn_tail(&tempo, &tail, CYCLE, TAIL, 2);
        assert_true(most_wrong(&tempo, &tail, CYCLE, TAIL) < 1.5);
    }
}

/* It is both that change then. */
static void a_step_of_the_clock_leaves_the_tail(void **state)
{
    struct tempo tempo;
    struct tempo_tail tail = {.cycles = TAIL, .first_cycles = TAIL};
    (void)state;
    tempo_init(&tempo, CYCLE);
    for (int i = 0; i < 500; i++)
        learn_tail(&tempo, &tail, CYCLE * 1.2, TAIL, 1);
    assert_true(fabs(tail.cycles - TAIL) < 8);
    assert_true(most_wrong(&tempo, &tail, CYCLE * 1.2, TAIL) < 1.5);
}

/* Emulated runs take as long as each other. */
static void no_times_make_the_tail_more_than_twice_or_less_than_half_as_long(void **state)
{
    struct tempo tempo;
    struct tempo_tail tail = {.cycles = TAIL, .first_cycles = TAIL};
    (void)state;
    tempo_init(&tempo, CYCLE);
    for (int i = 0; i < 20000; i++) {
        double run = dice_between(&dice, 0, LONGEST_RUN);
        tempo_learn_tail(&tempo, &tail, i < 10000 ? (run < LONGEST_RUN / 2 ? 1e9 : -1e9)
                                                  : (run < LONGEST_RUN / 2 ? -1e9 : 1e9),
                         run, LONGEST_RUN);
        assert_true(tail.cycles >= TAIL / 2 && tail.cycles <= TAIL * 2);
        assert_true(tempo.cycle_ticks > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_all_lengths_end_in_time_whatever_the_tail_was),
        cmocka_unit_test(a_step_of_the_clock_leaves_the_tail),
        cmocka_unit_test(no_times_make_the_tail_more_than_twice_or_less_than_half_as_long),
        cmocka_unit_test(a_step_of_the_clock_is_believed_after_three),
        cmocka_unit_test(two_that_were_held_up_move_it_by_half_a_tick_at_most),
        cmocka_unit_test(each_machines_clock_is_followed),
        cmocka_unit_test(each_machines_steps_move_it_by_less_than_a_step),
        cmocka_unit_test(no_times_make_it_more_than_twice_as_long_at_once),
        cmocka_unit_test(noise_does_not_pull_it_to_either_side),
        cmocka_unit_test(what_agrees_within_its_bound_teaches_nothing),
    };
    dice = dice_new();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
