/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "claim.h"
#include "drivers.h"

const struct reference_source *const reference_sources[] = {
    &reference_source_kernel,  &reference_source_chrony,    &reference_source_phc,
    &reference_source_vmclock, &reference_source_simulated, NULL,
};

const struct reference_source *reference_source_named(const char *name, size_t length)
{
    for (size_t i = 0; reference_sources[i] != NULL; i++) {
        const char *known = reference_sources[i]->name;
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return reference_sources[i];
    }
    return NULL;
}
