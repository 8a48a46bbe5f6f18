/* SPDX-License-Identifier: MIT */
/* machine: what all experiments are given. */
#ifndef EXPERIMENTS_MACHINE_H
#define EXPERIMENTS_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/clock.h>

#include "acpi.h"
#include "device.h"
#include "processor.h"

struct machine {
    struct processor processor;
    struct acpi acpi;
    struct device pit, pm_timer, hpet;
    const struct device *reference; /* of the clock */
    double tsc_hz;                  /* by the reference */
    double ticks_per_apic_tick;
    bool is_emulated; /* so caches and latencies are not this machine's */
    bool is_quick;
    uint32_t memory_kib;
    const timebase_clock *clock;
};

/* How many of so many, for emulators. */
static inline int machine_trials(const struct machine *machine, int trials)
{
    return machine->is_quick ? (trials + 15) / 16 : trials;
}

static inline uint64_t machine_ticks(const struct machine *machine, double ns)
{
    return (uint64_t)(ns * machine->tsc_hz / 1e9);
}

/* Each prints its lines. */
void experiment_frequency(struct machine *machine); /* the first: it learns what others need */
void experiment_loop(struct machine *machine);
void experiment_table(struct machine *machine);
void experiment_dispatch(struct machine *machine);
void experiment_wait(struct machine *machine);
void experiment_calendar(struct machine *machine);
void experiment_smi(struct machine *machine);

#endif
