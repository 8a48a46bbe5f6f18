/* SPDX-License-Identifier: MIT */
/*
 * The counter and its CPU by the mark of a restartable sequence. The test is the kernel: before
 * each access of the reader to its sequence, and before it reads the counter, it may move the thread,
 * preempt it, or let a signal handler read the clock. All ways of three such events are tried.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "clock/counter/by_cpu_rseq.h"

enum { CPUS = 3, CPU_BITS = 48, EVENTS_MAX = 3 };
/* The thread goes on on CPU 0, 1 or 2, perhaps where it was; or a handler reads the clock. */
enum { SIGNALLED = CPUS, KINDS };
enum { HIS = 0x77 }; /* what somebody else has left in rseq_cs */

/* ---- the machine --------------------------------------------------------------------------- */

static struct {
    uint32_t cpu;
    uint64_t ticks; /* each CPU's counter is far from the others' */
    uint64_t readings;
    unsigned moment; /* how many moments have passed */
    struct {
        unsigned moment, kind;
    } events[EVENTS_MAX];
    unsigned happened;
    bool is_always; /* preempted at each moment */
    bool is_absent; /* no sequence is registered */
} machine;

/* The thread's sequence: its CPU and rseq_cs. */
static uint32_t sequence[4];
static const uint32_t mark = 0x4d4b;

static uint64_t ordered_ticks(void);

/* The thread goes on elsewhere. */
static void put_on(uint32_t cpu)
{
    machine.cpu = cpu;
    sequence[RSEQ_CPU] = cpu;
    sequence[RSEQ_CS] = 0;
}

/* The handler's reading is by its own CPU, too. */
static void handle_signal(void)
{
    unsigned cpu;
    sequence[RSEQ_CS] = 0;
    uint64_t ticks = by_cpu_by_rseq(ordered_ticks, &cpu);
    assert_true(ticks >> CPU_BITS == cpu);
}

static void a_moment_passes(void)
{
    unsigned moment = machine.moment++;
    if (machine.is_always)
        put_on(machine.cpu);
    for (int i = 0; i < EVENTS_MAX; i++) {
        if (machine.events[i].moment != moment)
            continue;
        machine.happened++;
        if (machine.events[i].kind == SIGNALLED)
            handle_signal();
        else
            put_on(machine.events[i].kind);
    }
}

static uint64_t ordered_ticks(void)
{
    a_moment_passes();
    machine.readings++;
    return ((uint64_t)machine.cpu << CPU_BITS) + ++machine.ticks;
}

uint32_t *rseq_here(void)
{
    return machine.is_absent ? NULL : sequence;
}

uint32_t rseq_cpu(const uint32_t *rseq)
{
    a_moment_passes();
    return rseq[RSEQ_CPU];
}

void rseq_set_mark(uint32_t *rseq)
{
    a_moment_passes();
    rseq[RSEQ_CS] = mark;
}

bool rseq_has_mark(const uint32_t *rseq)
{
    a_moment_passes();
    return rseq[RSEQ_CS] == mark;
}

void rseq_clear_mark(uint32_t *rseq)
{
    a_moment_passes();
    rseq[RSEQ_CS] = 0;
}

/* What is in rseq_cs when the reading begins. */
static void begin(uint32_t found)
{
    memset(&machine, 0, sizeof(machine));
    for (int i = 0; i < EVENTS_MAX; i++)
        machine.events[i].moment = UINT32_MAX;
    put_on(1);
    sequence[RSEQ_CS] = found;
}

/* ---- all that three events can do ---------------------------------------------------------- */

static void check_a_reading(uint32_t found)
{
    unsigned cpu;
    uint64_t ticks = by_cpu_by_rseq(ordered_ticks, &cpu);
    assert_true(cpu < CPUS);
    assert_true(ticks >> CPU_BITS == cpu);
    bool is_undisturbed = found == mark && machine.happened == 0;
    assert_int_equal(sequence[RSEQ_CS], is_undisturbed ? mark : 0);
}

/* An attempt has six, a handler's too: three events spoil three, and the fourth is undisturbed. */
enum { MOMENTS = 24 };

/* Each event at each moment that the reading has, those of its repetitions too. */
static void try_events(uint32_t found, unsigned count)
{
    unsigned ways = 1;
    for (unsigned i = 0; i < count; i++)
        ways *= MOMENTS * KINDS;
    for (unsigned way = 0; way < ways; way++) {
        begin(found);
        for (unsigned i = 0, rest = way; i < count; i++, rest /= MOMENTS * KINDS) {
            machine.events[i].moment = rest % (MOMENTS * KINDS) / KINDS;
            machine.events[i].kind = rest % KINDS;
        }
        check_a_reading(found);
    }
}

static void a_reading_is_of_the_cpu_that_it_names(void **state)
{
    (void)state;
    for (unsigned count = 0; count <= EVENTS_MAX; count++)
        try_events(0, count);
}

/* A waiter's mark stands after a reading if it has stood all along, and only then. */
static void so_it_is_within_somebody_s_mark_which_tells_both(void **state)
{
    (void)state;
    for (unsigned count = 0; count <= EVENTS_MAX; count++)
        try_events(mark, count);
}

static void what_another_library_has_left_is_no_mark(void **state)
{
    (void)state;
    for (unsigned count = 0; count < EVENTS_MAX; count++)
        try_events(HIS, count);
}

static void an_undisturbed_reading_reads_once(void **state)
{
    unsigned cpu;
    (void)state;
    begin(0);
    by_cpu_by_rseq(ordered_ticks, &cpu);
    assert_int_equal(machine.readings, 1);
    assert_int_equal(cpu, 1);
}

/* Moved and moved back: the number of the CPU is the same before and after. */
static void who_was_away_and_came_back_reads_again(void **state)
{
    unsigned cpu;
    (void)state;
    begin(0);
    machine.events[0].moment = 3; /* has mark, set mark, CPU: before the counter */
    machine.events[0].kind = 2;
    machine.events[1].moment = 4; /* behind it */
    machine.events[1].kind = 1;
    uint64_t ticks = by_cpu_by_rseq(ordered_ticks, &cpu);
    assert_int_equal(machine.happened, 2);
    assert_int_equal(machine.readings, 2);
    assert_int_equal(cpu, 1);
    assert_true(ticks >> CPU_BITS == 1);
}

/* ---- no CPU ---------------------------------------------------------------------------------- */

static void who_is_disturbed_each_time_knows_no_cpu(void **state)
{
    unsigned cpu;
    (void)state;
    begin(0);
    machine.is_always = true;
    by_cpu_by_rseq(ordered_ticks, &cpu);
    assert_int_equal(cpu, BY_CPU_UNKNOWN);
    assert_int_equal(machine.readings, BY_CPU_RSEQ_ATTEMPTS + 1);
    assert_int_equal(sequence[RSEQ_CS], 0);
}

static void without_a_sequence_no_cpu_is_known(void **state)
{
    unsigned cpu;
    (void)state;
    begin(0);
    machine.is_absent = true;
    assert_true(by_cpu_by_rseq(ordered_ticks, &cpu) == ((uint64_t)1 << CPU_BITS) + 1);
    assert_int_equal(cpu, BY_CPU_UNKNOWN);
}

/* A thread that the C library has not registered: the number of its CPU stays -1 or -2. */
static void nor_is_that_of_a_thread_that_is_not_registered(void **state)
{
    unsigned cpu;
    (void)state;
    for (uint32_t number = UINT32_MAX - 1; number != 0; number++) {
        begin(0);
        sequence[RSEQ_CPU] = number;
        by_cpu_by_rseq(ordered_ticks, &cpu);
        assert_true((int)cpu < 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reading_is_of_the_cpu_that_it_names),
        cmocka_unit_test(so_it_is_within_somebody_s_mark_which_tells_both),
        cmocka_unit_test(what_another_library_has_left_is_no_mark),
        cmocka_unit_test(an_undisturbed_reading_reads_once),
        cmocka_unit_test(who_was_away_and_came_back_reads_again),
        cmocka_unit_test(who_is_disturbed_each_time_knows_no_cpu),
        cmocka_unit_test(without_a_sequence_no_cpu_is_known),
        cmocka_unit_test(nor_is_that_of_a_thread_that_is_not_registered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
