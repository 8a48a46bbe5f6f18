/* SPDX-License-Identifier: MIT */
/* device: clocks of the board that the counter is compared with. */
#ifndef BOARD_DEVICE_H
#define BOARD_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "acpi.h"

struct device {
    const char *name;
    uint64_t (*read)(void);
    uint64_t mask;      /* of a reading: it wraps there */
    uint64_t period_fs; /* of one step, rounded to nearest; 0: the machine has no such clock */
};

/* 8254, channel 2, which makes no interrupts: it wraps every 55 ms. */
struct device pit_begin(void);

/* The ACPI power management timer. */
struct device pm_timer_begin(const struct acpi *acpi);

/* The high precision event timer's counter, its lower 32 bits. */
struct device hpet_begin(const struct acpi *acpi);

#endif
