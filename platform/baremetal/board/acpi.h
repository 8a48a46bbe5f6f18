/* SPDX-License-Identifier: MIT */
/* acpi: where the firmware says that the clocks are, and how many processors there are. */
#ifndef BOARD_ACPI_H
#define BOARD_ACPI_H

#include <stdbool.h>
#include <stdint.h>

struct acpi {
    bool is_there;
    char maker[7];         /* OEM of the root table */
    unsigned cpus;         /* that may run; 0: not said */
    uint64_t hpet;         /* address of its registers; 0: none */
    uint16_t pm_timer;     /* port; 0: none */
    bool pm_timer_is_wide; /* 32 bits; else 24 */
};

void acpi_find(struct acpi *acpi);

#endif
