/* SPDX-License-Identifier: MIT */
/*
 * Elemental units by the library's own admission and dispatcher. Time-outs are the APIC's
 * interrupt: it sends the unit's code to the landing, as Maruti's time-out interrupt did.
 */
#include <timebase/calendar.h>

#include "bare_dispatcher.h"
#include "digits.h"
#include "json.h"
#include "machine.h"
#include "screen.h"
#include "stop.h"
#include "timing/calendar/account.h"
#include "timing/calendar/admit.h"
#include "waiter.h"

enum { UNITS = 3, SAMPLE_NS = 10000, PERIOD_NS = 1000000 };

static uint64_t worked;

static void work(void *argument)
{
    (void)argument;
    worked++;
}

/* Never ends by itself. */
static void hang(void *argument)
{
    (void)argument;
    for (;;)
        __asm__ __volatile__("pause");
}

static struct timebase_unit units[UNITS] = {
    {.name = "sample",
     .action = work,
     .period_ns = PERIOD_NS,
     .duration_ns = SAMPLE_NS,
     .flags = TIMEBASE_WAIT_PREPARE},
    {.name = "send",
     .action = work,
     .ready_ns = 300000,
     .period_ns = PERIOD_NS,
     .duration_ns = SAMPLE_NS,
     .deadline_ns = 200000,
     .flags = TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_SLEEP},
    {.name = "hangs",
     .action = hang,
     .ready_ns = 600000,
     .period_ns = PERIOD_NS,
     .duration_ns = 50000,
     .deadline_ns = 200000,
     .timeout_ns = 60000},
};

static int64_t thousandths(double value)
{
    return (int64_t)(value * 1000 + (value < 0 ? -0.5 : 0.5));
}

static void print(const struct timebase_unit *unit, const struct timebase_unit_result *result,
                  bool is_shown)
{
    json_begin("calendar");
    json_text("unit", unit->name);
    json_unsigned("released", result->released);
    json_unsigned("late", result->late);
    json_unsigned("overruns", result->overruns);
    json_unsigned("missed", result->missed);
    json_unsigned("timed_out", result->timed_out);
    json_unsigned("skipped", result->skipped);
    json_unsigned("disturbed", result->disturbed);
    json_thousandths("error_min_ns", thousandths(result->error_min_ns));
    json_thousandths("error_max_ns", thousandths(result->error_max_ns));
    json_thousandths(
        "error_mean_ns",
        result->released > 0 ? thousandths(result->error_sum_ns / (double)result->released) : 0);
    json_number("longest_ns", result->longest_ns);
    json_bool("shown", is_shown);
    json_end();
}

static void show(const char *name, uint64_t count)
{
    screen_text(", ");
    screen_text(name);
    screen_text(" ");
    screen_text(digits_unsigned(count).text);
}

static void show_unit(const struct timebase_unit *unit, const struct timebase_unit_result *result)
{
    screen_text("  ");
    screen_text(unit->name);
    show("released", result->released);
    show("late", result->late);
    show("missed", result->missed);
    show("timed out", result->timed_out);
    screen_text("\n");
}

/* Two units that claim the same time: what the admission is for. Returns how many problems. */
static int refused(struct timebase_waiter *waiter)
{
    struct timebase_unit both[2] = {units[0], units[0]};
    struct timebase_calendar calendar = {.units = both, .unit_count = 2};
    struct timebase_calendar_problem problems[4];
    return timebase_calendar_admit(&calendar, waiter, problems, 4);
}

void experiment_calendar(struct machine *machine)
{
    static struct admission admission;
    static struct timebase_unit_result results[UNITS];
    struct timebase_waiter *waiter = waiter_of_machine(machine);
    int64_t periods = machine->is_quick ? 50 : 1000;
    struct timebase_calendar calendar = {
        .units = units, .unit_count = UNITS, .length_ns = periods * PERIOD_NS};
    int problems = refused(waiter);
    if (admission_make(&admission, &calendar, waiter, NULL, 0) < 0 || admission.list.faults > 0)
        stop("the calendar is not admitted");
    account_begin(results, UNITS, admission.placement.moved_ns);
    if (bare_dispatcher_run(&admission, machine, waiter, results) < 0)
        stop("the calendar did not run");
    json_begin("admission");
    json_number("problems_of_two_at_once", problems);
    json_end();
    for (int i = 0; i < UNITS; i++) {
        print(&units[i], &results[i], !machine->is_emulated);
        show_unit(&units[i], &results[i]);
    }
}
