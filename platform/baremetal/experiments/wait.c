/* SPDX-License-Identifier: MIT */
/*
 * Exact waits from the interrupt onwards, which the report of 1997 only hoped for: the processor
 * halts, the APIC's timer wakes it up a learnt margin before the target, and the library's own wait
 * does the rest. Beside it, the same without the halt, and by the loop.
 */
#include <timebase/wait.h>

#include "digits.h"
#include "json.h"
#include "machine.h"
#include "screen.h"
#include "stop.h"
#include "trials.h"
#include "waiter.h"

static struct timebase_waiter waiter;

struct timebase_waiter *waiter_of_machine(const struct machine *machine)
{
    static bool is_ready;
    if (!is_ready && timebase_waiter_init(&waiter, machine->clock) != TIMEBASE_OK)
        stop("the waiter cannot be made");
    is_ready = true;
    return &waiter;
}

struct kind {
    const char *name;
    unsigned flags;
    double ahead_ns;
};

static const struct kind kinds[] = {
    {"loop", TIMEBASE_WAIT_PLAIN, 2e4},
    {"exact", TIMEBASE_WAIT_PREPARE, 2e4},
    {"from_interrupt", TIMEBASE_WAIT_PREPARE | TIMEBASE_WAIT_SLEEP, 2e5},
};

static int64_t thousandths(double value)
{
    return (int64_t)(value * 1000 + (value < 0 ? -0.5 : 0.5));
}

struct outcome {
    int64_t errors[TRIALS_MAX]; /* ps */
    int count, late, disturbed, slept;
    int mechanism;
};

static void run(const struct machine *machine, const struct kind *kind, struct outcome *outcome)
{
    struct timebase_waiter *own = waiter_of_machine(machine);
    int count = machine_trials(machine, TRIALS_MAX);
    *outcome = (struct outcome){.count = count};
    for (int i = 0; i < count; i++) {
        struct timebase_wait_result result;
        uint64_t target = timebase_ticks() + machine_ticks(machine, kind->ahead_ns) + (uint64_t)i;
        if (timebase_wait_until_ticks(own, target, kind->flags, &result) < 0)
            stop("a wait was refused");
        outcome->errors[i] = thousandths(result.error_ns);
        outcome->late += result.late != 0;
        outcome->disturbed += result.disturbance != 0;
        outcome->slept += result.wake_ns != 0;
        outcome->mechanism = result.mechanism;
    }
}

/* Insertion: some hundred, once. */
static int64_t median_size(const struct outcome *outcome)
{
    static int64_t sizes[TRIALS_MAX];
    for (int i = 0; i < outcome->count; i++) {
        int64_t size = outcome->errors[i] < 0 ? -outcome->errors[i] : outcome->errors[i];
        int place = i;
        for (; place > 0 && sizes[place - 1] > size; place--)
            sizes[place] = sizes[place - 1];
        sizes[place] = size;
    }
    return sizes[outcome->count / 2];
}

static void show(const struct kind *kind, const struct outcome *outcome)
{
    screen_text("  ");
    screen_text(kind->name);
    screen_text(": half of them within ");
    screen_text(digits_thousandths(median_size(outcome)).text);
    screen_text(" ns\n");
}

static void print(const struct kind *kind, const struct outcome *outcome, bool is_shown)
{
    json_begin("wait");
    json_text("way", kind->name);
    json_text("mechanism", timebase_wait_mechanism_name(outcome->mechanism));
    json_number("late", outcome->late);
    json_number("disturbed", outcome->disturbed);
    json_number("slept", outcome->slept);
    json_bool("shown", is_shown);
    json_list("errors_ns");
    for (int i = 0; i < outcome->count; i++)
        json_item_thousandths(outcome->errors[i]);
    json_list_end();
    json_end();
}

void experiment_wait(struct machine *machine)
{
    static struct outcome outcome;
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        run(machine, &kinds[i], &outcome);
        print(&kinds[i], &outcome, !machine->is_emulated);
        show(&kinds[i], &outcome);
    }
}
