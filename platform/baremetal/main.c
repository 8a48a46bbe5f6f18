/* SPDX-License-Identifier: MIT */
/* From a machine that has just booted to a log of what it can do. */
#include <stddef.h>
#include <string.h>

#include "acpi.h"
#include "alarm.h"
#include "apic.h"
#include "clock.h"
#include "command_line.h"
#include "interrupts.h"
#include "json.h"
#include "machine.h"
#include "multiboot.h"
#include "screen.h"
#include "serial.h"
#include "stop.h"

enum { MEMORY_LEAST_KIB = 16 * 1024 };

static const struct {
    const char *name, *words;
    void (*run)(struct machine *machine);
} experiments[] = {
    {"loop", "loop until a tick", experiment_loop},
    {"table", "loop after a table's delay", experiment_table},
    {"dispatch", "interrupts of the APIC's timer", experiment_dispatch},
    {"wait", "exact waits from the interrupt on", experiment_wait},
    {"calendar", "elemental units and their time-outs", experiment_calendar},
    {"smi", "what the firmware takes away", experiment_smi},
};

static bool is_wanted(const char *name)
{
    return !command_line_names("only") || command_line_has("only", name);
}

/* Missing, and nobody said that it may be. */
static bool is_missed(bool is_there, const char *name)
{
    return !is_there && !command_line_has("without", name);
}

static void take_boot_information(uint32_t magic, const struct multiboot_info *info,
                                  struct machine *machine)
{
    bool is_multiboot = magic == MULTIBOOT_LOADED;
    if (is_multiboot && info->flags & MULTIBOOT_HAS_COMMAND_LINE)
        command_line_begin((const char *)(uintptr_t)info->command_line);
    bool has_serial = serial_begin();
    if (!is_multiboot)
        stop("not started by a multiboot loader");
    if (is_missed(has_serial, "serial"))
        stop("no serial port: nobody would get the log (without=serial goes on)");
    if (info->flags & MULTIBOOT_HAS_MEMORY)
        machine->memory_kib = info->upper_kib + 1024;
    if (machine->memory_kib < MEMORY_LEAST_KIB)
        stop_with("too little memory: 16 MiB are needed", "kib", machine->memory_kib);
}

/* QEMU and Bochs have the same firmware, whose tables are "made" by BOCHS. */
static bool is_emulated(const struct machine *machine)
{
    return machine->processor.hypervisor[0] != 0 || memcmp(machine->acpi.maker, "BOCHS", 5) == 0;
}

static void check_processor(const struct machine *machine)
{
    if (!machine->processor.has_apic)
        stop("no APIC: nothing would interrupt");
    if (!machine->processor.has_rdtscp)
        stop("no RDTSCP: the library has no ordered reading of this counter");
    if (is_missed(machine->processor.is_invariant, "invariant-tsc"))
        stop("no invariant TSC: its ticks may change their length (without=invariant-tsc goes on)");
}

static void check_board(const struct machine *machine)
{
    if (is_missed(machine->hpet.period_fs != 0, "hpet"))
        stop("no HPET (without=hpet goes on, by the ACPI timer)");
    if (machine->hpet.period_fs == 0 && machine->pm_timer.period_fs == 0)
        stop("neither HPET nor ACPI timer: the clock has no reference");
    if (is_missed(machine->acpi.cpus != 1, "cpus"))
        stop("one CPU: it may be shared with the firmware's work (without=cpus goes on)");
}

static void print_machine(const struct machine *machine)
{
    const struct processor *processor = &machine->processor;
    json_begin("machine");
    json_number("format", 1);
    json_text("project", "timebase");
    json_number("bits", sizeof(void *) * 8);
    json_text("vendor", processor->vendor);
    json_text("processor", processor->brand);
    json_unsigned("signature", processor->signature);
    json_text("hypervisor", processor->hypervisor);
    json_text("firmware", machine->acpi.maker);
    json_bool("emulated", machine->is_emulated);
    json_bool("quick", machine->is_quick);
    json_unsigned("cpus", machine->acpi.cpus);
    json_unsigned("memory_kib", machine->memory_kib);
    json_bool("invariant_tsc", processor->is_invariant);
    json_bool("tsc_deadline", processor->has_deadline);
    json_unsigned("claimed_hz", processor->claimed_hz);
    json_end();
    screen_text(processor->brand[0] != 0 ? processor->brand : processor->vendor);
    screen_text(machine->is_emulated ? ", emulated: caches and latencies say nothing\n" : "\n");
}

static void look_around(struct machine *machine)
{
    processor_ask(&machine->processor);
    acpi_find(&machine->acpi);
    machine->is_emulated = is_emulated(machine);
    machine->is_quick = command_line_has("quick", "yes");
    print_machine(machine);
    check_processor(machine);
    machine->pit = pit_begin();
    machine->pm_timer = pm_timer_begin(&machine->acpi);
    machine->hpet = hpet_begin(&machine->acpi);
    check_board(machine);
}

/* What is said then can be seen without waiting for an accident. */
static void raise_wanted_fault(void)
{
    if (command_line_has("fault", "wild-interrupt"))
        __asm__ __volatile__("int $0x55");
    if (command_line_has("fault", "exception"))
        __asm__ __volatile__("ud2");
}

/* The servo is part of the library, and its state part of the log. */
static void begin_clock(struct machine *machine)
{
    if (!clock_begin(machine->reference, machine->tsc_hz))
        stop("the servo found no line through the reference's readings");
    machine->clock = timebase_clock_default();
    const struct servo *servo = clock_servo();
    json_begin("clock");
    json_text("reference", machine->reference->name);
    json_unsigned("samples", servo->counts.samples);
    json_unsigned("publications", servo->counts.publications);
    json_number("mono_ns", timebase_mono_ns(machine->clock));
    json_end();
}

/* What the clock was after all of it: is it still by the reference? */
static void end_clock(const struct machine *machine)
{
    struct timebase_instant instant;
    timebase_clock_maintain(machine->clock);
    timebase_now(machine->clock, &instant);
    const struct servo_counts *counts = &clock_servo()->counts;
    json_begin("clock_end");
    json_unsigned("samples", counts->samples);
    json_unsigned("publications", counts->publications);
    json_unsigned("late_publications", counts->late_publications);
    json_unsigned("disruptions", counts->disruptions);
    json_number("mono_ns", instant.mono_ns);
    json_number("offset_ns", clock_servo()->offset_ns);
    json_unsigned("maxerror_ns", instant.maxerror_ns);
    json_end();
}

static void run_experiments(struct machine *machine)
{
    for (unsigned i = 0; i < sizeof(experiments) / sizeof(experiments[0]); i++) {
        if (!is_wanted(experiments[i].name))
            continue;
        screen_text(experiments[i].words);
        screen_text("\n");
        experiments[i].run(machine);
        json_begin("done");
        json_text("experiment", experiments[i].name);
        json_end();
    }
}

void main(uint32_t magic, const struct multiboot_info *info);

void main(uint32_t magic, const struct multiboot_info *info)
{
    static struct machine machine;
    screen_clear();
    screen_text("timebase: the bare machine\n");
    interrupts_begin();
    take_boot_information(magic, info, &machine);
    look_around(&machine);
    raise_wanted_fault();
    apic_begin();
    experiment_frequency(&machine);
    alarm_begin(machine.ticks_per_apic_tick, machine.processor.has_deadline);
    begin_clock(&machine);
    run_experiments(&machine);
    end_clock(&machine);
    stop_done();
}
