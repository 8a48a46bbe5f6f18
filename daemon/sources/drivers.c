/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "claim.h"
#include "drivers.h"

const struct source_driver *const source_drivers[] = {
    &source_driver_kernel,  &source_driver_chrony,    &source_driver_phc,
    &source_driver_vmclock, &source_driver_simulated, NULL,
};

const struct source_driver *source_driver_named(const char *name, size_t length)
{
    for (size_t i = 0; source_drivers[i] != NULL; i++) {
        const char *known = source_drivers[i]->name;
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return source_drivers[i];
    }
    return NULL;
}
