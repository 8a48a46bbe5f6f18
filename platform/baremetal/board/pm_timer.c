/* SPDX-License-Identifier: MIT */
/* ACPI Specification 6.4, 4.8.3.3: 3.579545 MHz, 24 or 32 bits. */
#include "device.h"
#include "ports.h"

static uint16_t port;

static uint64_t read(void)
{
    return port_read_32(port);
}

/* 315/88 MHz. */
struct device pm_timer_begin(const struct acpi *acpi)
{
    struct device timer = {"pm_timer", read, acpi->pm_timer_is_wide ? 0xffffffff : 0xffffff,
                           279365079};
    port = acpi->pm_timer;
    if (port == 0)
        timer.period_fs = 0;
    return timer;
}
