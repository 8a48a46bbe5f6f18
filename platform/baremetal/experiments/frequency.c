/* SPDX-License-Identifier: MIT */
/*
 * How fast the counter runs, by each clock of the board. The bounds are hard: the counter was read
 * before and after each reading of the device, and the device may have been anywhere within a step.
 * They leave out how far the device's own crystal is from what it promises; devices that disagree
 * show that.
 */
#include <timebase/counter.h>

#include "apic.h"
#include "digits.h"
#include "interrupts.h"
#include "json.h"
#include "machine.h"
#include "screen.h"
#include "stop.h"

enum { LOOKS = 8 };

struct look {
    uint64_t before, after, device;
};

struct frequency {
    double low, high; /* ticks per step of the device */
    double steps;
    uint64_t bracket_ticks;
};

/* The narrowest of some. */
static struct look look_at(const struct device *device)
{
    struct look best = {0, UINT64_MAX, 0};
    for (int i = 0; i < LOOKS; i++) {
        struct look look = {.before = timebase_ticks_ordered()};
        look.device = device->read();
        look.after = timebase_ticks_ordered();
        if (look.after - look.before < best.after - best.before)
            best = look;
    }
    return best;
}

/* Twice as long each time, as nobody knows yet how long a tick is. */
static void let_pass(const struct device *device, uint64_t first, uint64_t steps)
{
    for (uint64_t ticks = 1 << 14; ((device->read() - first) & device->mask) < steps; ticks *= 2) {
        uint64_t until = timebase_ticks() + ticks;
        while ((int64_t)(until - timebase_ticks()) > 0)
            timebase_arch_relax();
    }
}

static struct frequency compare(const struct device *device, uint64_t steps)
{
    struct look first = look_at(device);
    let_pass(device, first.device, steps);
    struct look last = look_at(device);
    struct frequency found;
    found.steps = (double)((last.device - first.device) & device->mask);
    found.low = (double)(last.before - first.after) / (found.steps + 1);
    found.high = (double)(last.after - first.before) / (found.steps - 1);
    found.bracket_ticks = (last.after - last.before) + (first.after - first.before);
    return found;
}

static void print(const struct device *device, const struct frequency *found)
{
    double hz = 1e15 / (double)device->period_fs;
    json_begin("frequency");
    json_text("by", device->name);
    json_unsigned("hz_low", (uint64_t)(found->low * hz));
    json_unsigned("hz_high", (uint64_t)(found->high * hz) + 1);
    json_unsigned("elapsed_ns", (uint64_t)(found->steps / hz * 1e9));
    json_unsigned("bracket_ticks", found->bracket_ticks);
    json_end();
    screen_text("counter by ");
    screen_text(device->name);
    screen_text(": ");
    screen_text(digits_unsigned((uint64_t)((found->low + found->high) / 2 * hz)).text);
    screen_text(" Hz\n");
}

/* The PIT wraps after 55 ms: no more than 20, of which the last doubling makes 40 at most. */
static double measure(const struct machine *machine, const struct device *device, double wanted_ns)
{
    double short_ns = 2e7, ns = machine->is_quick || wanted_ns < short_ns ? short_ns : wanted_ns;
    if (device->period_fs == 0)
        return 0;
    struct frequency found = compare(device, (uint64_t)(ns * 1e6 / (double)device->period_fs));
    print(device, &found);
    return (found.low + found.high) / 2 * 1e15 / (double)device->period_fs;
}

/* The APIC's timer counts down, and makes no interrupt here. */
static uint64_t read_apic(void)
{
    return UINT32_MAX - apic_left();
}

static void measure_apic(struct machine *machine)
{
    const struct device apic = {"apic", read_apic, UINT32_MAX, 1};
    interrupts_off();
    apic_arm_one_shot(VECTOR_TIMER, UINT32_MAX);
    uint64_t first = read_apic();
    for (int i = 0; i < 100000 && read_apic() == first; i++)
        ;
    if (read_apic() == first)
        stop("the APIC's timer stands still");
    struct frequency found = compare(&apic, 1 << 20);
    apic_disarm();
    machine->ticks_per_apic_tick = (found.low + found.high) / 2;
    json_begin("apic");
    json_unsigned("hz_low", (uint64_t)(machine->tsc_hz / found.high));
    json_unsigned("hz_high", (uint64_t)(machine->tsc_hz / found.low) + 1);
    json_end();
}

/* Until its interrupt has come, for a second at most. */
static void await_interrupt(const struct machine *machine, uint32_t count, uint64_t armed)
{
    uint64_t most = machine_ticks(machine, 1e9);
    while (timer_count == count)
        if (timebase_ticks() - armed > most)
            stop("the APIC's timer makes no interrupt");
}

/* What the APIC makes of 100,000 of its own ticks; in ticks of the counter. */
static void count_apic(const struct machine *machine)
{
    enum { APIC_TICKS = 100000, TIMES = 16 };
    json_begin("apic_count");
    json_number("apic_ticks", APIC_TICKS);
    json_list("elapsed_ticks");
    for (int i = 0; i < TIMES; i++) {
        uint32_t count = timer_count;
        interrupts_on();
        uint64_t armed = apic_arm_one_shot(VECTOR_TIMER, APIC_TICKS);
        await_interrupt(machine, count, armed);
        interrupts_off();
        json_item((int64_t)(timer_ticks - armed));
    }
    json_list_end();
    json_end();
    apic_disarm();
}

void experiment_frequency(struct machine *machine)
{
    double by_pit = measure(machine, &machine->pit, 2e7);
    double by_pm_timer = measure(machine, &machine->pm_timer, 1e9);
    double by_hpet = measure(machine, &machine->hpet, 1e9);
    machine->reference = by_hpet > 0 ? &machine->hpet : &machine->pm_timer;
    machine->tsc_hz = by_hpet > 0 ? by_hpet : by_pm_timer > 0 ? by_pm_timer : by_pit;
    if (machine->tsc_hz <= 0)
        stop("no clock to measure the counter by: neither HPET, ACPI timer nor PIT");
    measure_apic(machine);
    count_apic(machine);
}
