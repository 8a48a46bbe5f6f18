/* SPDX-License-Identifier: MIT */
/* IA-PC HPET Specification 1.0a, 2.3. */
#include "device.h"

enum { CAPABILITIES_PERIOD = 0x4, CONFIGURATION = 0x10, COUNTER = 0xf0, ENABLE = 1 };

/* Longer than the specification allows: not an HPET that anybody has seen to. */
#define PERIOD_MAX_FS 100000000

static volatile uint32_t *registers;

static uint64_t read(void)
{
    return registers[COUNTER / 4];
}

struct device hpet_begin(const struct acpi *acpi)
{
    struct device hpet = {"hpet", read, 0xffffffff, 0};
    registers = (volatile uint32_t *)(uintptr_t)acpi->hpet;
    if (acpi->hpet == 0)
        return hpet;
    uint32_t period_fs = registers[CAPABILITIES_PERIOD / 4];
    if (period_fs == 0 || period_fs > PERIOD_MAX_FS)
        return hpet;
    registers[CONFIGURATION / 4] |= ENABLE;
    hpet.period_fs = period_fs;
    return hpet;
}
