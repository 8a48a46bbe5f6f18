/* SPDX-License-Identifier: MIT */
/*
 * The approaches as functions: what they call and when, and that the caller's registers and stack
 * are as before. How near to the target they come is a matter of calibration, and of bench.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "approaches.h"
#include "timing/approach/evidence.h"

static struct approach a;
static char arguments[32];
static int events;
static void *seen_argument;

static void note(void *argument)
{
    events++;
    seen_argument = argument;
}

/* ---- the event ---------------------------------------------------------------------------- */

static void the_event_is_called_once_with_its_argument(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        for (int i = 0; i < 200; i++) {
            events = 0;
            prepare_approach(&a, i * 20, note, &arguments[i % 32]);
            named->approach(&a);
            assert_int_equal(events, 1);
            assert_ptr_equal(seen_argument, &arguments[i % 32]);
        }
    }
}

static void the_stamp_is_behind_the_last_poll(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        for (int i = 0; i < 200; i++) {
            prepare_approach(&a, i * 20, note, NULL);
            named->approach(&a);
            uint64_t last = named->approach == approach_poll
                ? a.leave_ticks
                : a.target_ticks + (uint64_t)(a.sample_ticks >> APPROACH_TICK_BITS) - SPAN_TICKS;
            assert_true((int64_t)(a.event_ticks - last) >= 0);
            assert_true((int64_t)(timebase_ticks_ordered() - a.event_ticks) >= 0);
        }
    }
}

/* Of one that must not be early it is a poll, and not before the tick at which that leaves. */
static void a_loop_that_is_never_early_has_its_last_poll_for_a_stamp(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        prepare_approach(&a, 0, note, NULL);
        a.never_early = 1;
        a.leave_ticks = a.target_ticks + 1000 + (uint64_t)i * 20;
        approach_poll(&a);
        assert_true((int64_t)(a.event_ticks - a.leave_ticks) >= 0);
        assert_true((int64_t)(timebase_ticks_ordered() - a.event_ticks) >= 0);
    }
}

static void the_evidence_is_what_stood_there_at_the_stamp(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        prepare_approach(&a, 0, note, NULL);
        a.marker = 99;
        named->approach(&a);
        assert_int_equal(a.marker, evidence_marker());
        assert_int_equal(a.rseq_cpu, CPU);
        assert_true(a.rseq_marker == MARK);
    }
}

/* What the library leaves behind in rseq_cs the kernel would look for after dlclose(). */
static void the_mark_of_rseq_is_cleared(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        prepare_approach(&a, 0, note, NULL);
        named->approach(&a);
        assert_true(evidence_rseq_marker(a.rseq) == 0);
    }
}

/* ---- the run ------------------------------------------------------------------------------ */

/* Cycles after the time for which an empty run would end at the target; by its own last poll. */
static int64_t overdue_cycles(void)
{
    return (a.sample_ticks * a.cycles_per_tick + a.fixed_cycles) >> APPROACH_CYCLE_BITS;
}

static uint32_t run_for(int64_t left)
{
    return (uint32_t)(left < 0 ? 0 : left > APPROACH_LONGEST_RUN ? APPROACH_LONGEST_RUN : left);
}

static void the_run_fills_the_time_left(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        for (int i = 0; i < 400 && named->approach != approach_poll; i++) {
            prepare_approach(&a, i * 2, note, NULL);
            named->approach(&a);
            assert_int_equal(a.overdue_cycles, overdue_cycles());
            assert_int_equal(a.run, run_for(-overdue_cycles()));
            assert_true(-overdue_cycles() <= ANOTHER_CYCLES);
        }
    }
}

/* However long ago. */
static void a_target_in_the_past_takes_no_run(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        for (int power = 12; power < 62 && named->approach != approach_poll; power++) {
            int64_t ago = INT64_C(0x5a827999fcef3242) >> (62 - power);
            prepare_approach(&a, -ago, note, NULL);
            events = 0;
            named->approach(&a);
            assert_int_equal(events, 1);
            assert_int_equal(a.run, 0);
            assert_int_equal(a.polls, 1);
            assert_true(a.sample_ticks > 0);
            assert_true(a.overdue_cycles > a.late_cycles);
        }
    }
}

/* However long it is held up before its only poll. */
static void the_longest_run_is_for_a_core_too_slow_for_another_poll(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        if (named->approach == approach_poll)
            continue;
        prepare_approach(&a, APPROACH_NEVER, note, NULL);
        a.another_cycles = INT32_MAX;
        named->approach(&a);
        assert_int_equal(a.run, APPROACH_LONGEST_RUN);
        assert_int_equal(a.polls, 1);
    }
}

#if defined(__x86_64__)
/* ---- how a wait returns ------------------------------------------------------------------- */

static approach_function *wanted_end;

static int ask_for_the_end(void *context, uint64_t none, uint64_t nothing, void *null, void *frame)
{
    struct approach *approach = (struct approach *)context;
    (void)none, (void)nothing, (void)null;
    approach->frame = frame;
    approach_end_behind(approach, wanted_end);
    return APPROACH_ENDS_BEHIND;
}

/* Behind all calls. */
static int wait_that_ends_by(approach_function *end)
{
    wanted_end = end;
    return approach_from(&a, 0, 0, NULL, ask_for_the_end);
}

static void polls_behind_the_wait_end_at_their_tick_and_tell_who_is_late(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        int is_late = i % 2;
        prepare_approach(&a, is_late ? -100000 : 100000000, note, NULL);
        a.leave_ticks = a.target_ticks;
        if (!is_late)
            a.leave_ticks = timebase_ticks() + 100000;
        int said = wait_that_ends_by(approach_poll_bare);
        assert_true((int64_t)(a.event_ticks - a.leave_ticks) >= 0);
        assert_true((int64_t)(timebase_ticks_ordered() - a.event_ticks) >= 0);
        assert_int_equal(said, a.overdue_cycles > a.late_cycles);
        assert_true(said == 1 || !is_late); /* the other may be held up for long */
    }
}

/* An event that is none has runs of its own. */
static void an_exact_approach_behind_the_wait_tells_who_is_late(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL)
        for (int i = 0; i < 400; i++) {
            int calls = i % 4 < 2;
            prepare_approach(&a, i % 2 ? -100000 : i * 20, calls ? note : approach_event_none, &a);
            events = 0;
            int said = wait_that_ends_by(named->approach);
            assert_int_equal(said, a.overdue_cycles > a.late_cycles);
            assert_true(said == 1 || i % 2 == 0);
            assert_int_equal(events, calls);
        }
}

static void runs_behind_which_nothing_is_called_stamp_as_others_do(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL)
        for (int i = 0; i < 400; i++) {
            prepare_approach(&a, i * 20, approach_event_none, NULL);
            a.marker = 99;
            wait_that_ends_by(named->approach);
            assert_int_equal(a.marker, evidence_marker());
            assert_true(a.rseq_marker == MARK);
            assert_true(evidence_rseq_marker(a.rseq) == 0);
            assert_true((int64_t)(timebase_ticks_ordered() - a.event_ticks) >= 0);
        }
}

static int return_its_number(void *context, uint64_t number, uint64_t b, void *d, void *frame)
{
    (void)context, (void)b, (void)d, (void)frame;
    return (int)number;
}

static void who_does_not_leave_returns_what_it_says(void **state)
{
    static const int numbers[] = {0, 1, TIMEBASE_E_INVALID, TIMEBASE_E_UNSUPPORTED};
    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        assert_int_equal(
            approach_from(&a, (uint64_t)(int64_t)numbers[i], 0, NULL, return_its_number),
            numbers[i]);
}
#endif

/* ---- the caller's registers and stack ----------------------------------------------------- */

#define TWENTY(do_this)                                                                            \
    do_this(0) do_this(1) do_this(2) do_this(3) do_this(4) do_this(5) do_this(6) do_this(7)        \
        do_this(8) do_this(9) do_this(10) do_this(11) do_this(12) do_this(13) do_this(14)          \
            do_this(15) do_this(16) do_this(17) do_this(18) do_this(19)

static volatile uintptr_t whole[20];
static volatile double broken[20];

#define LOAD(i)                                                                                    \
    uintptr_t whole_##i = whole[i];                                                                \
    double broken_##i = broken[i];
#define COMPARE(i) different += whole_##i != whole[i] || broken_##i != broken[i];

/* More values than there are registers to be saved, so that all of these are in use. */
static __attribute__((noinline)) int values_lost_by(approach_function *approach)
{
    int different = 0;
    TWENTY(LOAD)
    approach(&a);
    TWENTY(COMPARE)
    return different;
}

static __attribute__((noinline)) int values_lost_by_run(void (*run)(uint64_t), uint64_t length)
{
    int different = 0;
    TWENTY(LOAD)
    run(length);
    TWENTY(COMPARE)
    return different;
}

static void fill_values(void)
{
    for (int i = 0; i < 20; i++) {
        whole[i] = (uintptr_t)0x9e3779b97f4a7c15 * (unsigned)(i + 1);
        broken[i] = 1.0 / (i + 3);
    }
}

/* An event that uses all registers itself, and wants its stack aligned as the compiler expects. */
static char text[200];
static void write_text(void *argument)
{
    const double *values = (const double *)argument;
    note(argument);
    snprintf(text, sizeof(text), "%.3f %.3f %.3f %.3f %.3f", values[0], values[1], values[2],
             values[3], values[4]);
}

#if defined(__x86_64__)
static int end_behind_by_return(struct approach *approach)
{
    (void)approach;
    return wait_that_ends_by(approach_return);
}

static int end_behind_by_jump(struct approach *approach)
{
    (void)approach;
    return wait_that_ends_by(approach_jump);
}

static void registers_survive_what_ends_behind(void **state)
{
    (void)state;
    fill_values();
    for (int i = 0; i < 100; i++) {
        prepare_approach(&a, i * 20, i % 2 ? approach_event_none : note, NULL);
        assert_int_equal(values_lost_by(end_behind_by_jump), 0);
        prepare_approach(&a, i * 20, i % 2 ? approach_event_none : note, NULL);
        if (approach_ways().exact == approach_return)
            assert_int_equal(values_lost_by(end_behind_by_return), 0);
    }
}
#endif

static void registers_survive(void **state)
{
    static double values[5] = {1, 2, 3, 4, 5};
    (void)state;
    fill_values();
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        for (int i = 0; i < 50; i++) {
            prepare_approach(&a, 1000, write_text, values);
            assert_int_equal(values_lost_by(named->approach), 0);
            assert_string_equal(text, "1.000 2.000 3.000 4.000 5.000");
        }
    }
}

static uintptr_t stack_pointer(void)
{
    uintptr_t pointer = 0;
#if defined(__x86_64__)
    __asm__ __volatile__("movq %%rsp, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    __asm__ __volatile__("mov %0, sp" : "=r"(pointer));
#elif defined(__powerpc__)
    __asm__ __volatile__("mr %0, 1" : "=r"(pointer));
#elif defined(__riscv)
    __asm__ __volatile__("mv %0, sp" : "=r"(pointer));
#elif defined(__s390x__)
    __asm__ __volatile__("lgr %0, %%r15" : "=r"(pointer));
#endif
    return pointer;
}

#if defined(__s390x__)
enum { STACK_ALIGNMENT = 8 };
#elif defined(__i386__) || defined(__arm__)
enum { STACK_ALIGNMENT = 4 }; /* only the polls, in C: nothing to be learnt */
#else
enum { STACK_ALIGNMENT = 16 };
#endif

static uintptr_t event_stack;

/* The canonical frame address: the stack pointer of whoever called, as it was before the call. */
static __attribute__((noinline)) void note_stack(void *argument)
{
    note(argument);
    event_stack = (uintptr_t)__builtin_dwarf_cfa();
}

static void the_stack_is_aligned_in_the_event_and_as_before_after_it(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        prepare_approach(&a, 0, note_stack, NULL);
        uintptr_t before = stack_pointer();
        named->approach(&a);
        assert_int_equal(stack_pointer(), before);
        assert_int_equal(event_stack % STACK_ALIGNMENT, 0);
    }
}

/* ---- the run alone ------------------------------------------------------------------------ */

static const uint64_t lengths[] = {0, 1, 31, 32, 33, 63, 64, 65, 5000};

static void a_run_of_any_length_returns(void **state)
{
    struct approach_ways ways = approach_ways();
    (void)state;
    if (ways.run == NULL)
        skip();
    fill_values();
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        assert_int_equal(values_lost_by_run(ways.run, lengths[i]), 0);
}

/* One after the other they take a cycle each, and no clock is above 10 GHz. */
static void a_run_takes_a_tenth_of_a_nanosecond_an_instruction_at_least(void **state)
{
    struct approach_ways ways = approach_ways();
    struct timespec start, end;
    (void)state;
    if (ways.run == NULL)
        skip();
    clock_gettime(CLOCK_MONOTONIC_RAW, &start);
    ways.run(10000017);
    clock_gettime(CLOCK_MONOTONIC_RAW, &end);
    int64_t ns = (end.tv_sec - start.tv_sec) * INT64_C(1000000000) + end.tv_nsec - start.tv_nsec;
    assert_true(ns > 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_event_is_called_once_with_its_argument),
        cmocka_unit_test(the_stamp_is_behind_the_last_poll),
        cmocka_unit_test(a_loop_that_is_never_early_has_its_last_poll_for_a_stamp),
        cmocka_unit_test(the_evidence_is_what_stood_there_at_the_stamp),
        cmocka_unit_test(the_mark_of_rseq_is_cleared),
        cmocka_unit_test(the_run_fills_the_time_left),
        cmocka_unit_test(a_target_in_the_past_takes_no_run),
        cmocka_unit_test(the_longest_run_is_for_a_core_too_slow_for_another_poll),
#if defined(__x86_64__)
        cmocka_unit_test(polls_behind_the_wait_end_at_their_tick_and_tell_who_is_late),
        cmocka_unit_test(an_exact_approach_behind_the_wait_tells_who_is_late),
        cmocka_unit_test(runs_behind_which_nothing_is_called_stamp_as_others_do),
        cmocka_unit_test(who_does_not_leave_returns_what_it_says),
        cmocka_unit_test(registers_survive_what_ends_behind),
#endif
        cmocka_unit_test(registers_survive),
        cmocka_unit_test(the_stack_is_aligned_in_the_event_and_as_before_after_it),
        cmocka_unit_test(a_run_of_any_length_returns),
        cmocka_unit_test(a_run_takes_a_tenth_of_a_nanosecond_an_instruction_at_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
