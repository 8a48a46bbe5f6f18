/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "claim.h"

const struct reference_source *const reference_sources[] = {NULL};

const struct reference_source *reference_source_named(const char *name, size_t length)
{
    for (unsigned i = 0; reference_sources[i] != NULL; i++)
        if (strlen(reference_sources[i]->name) == length &&
            memcmp(reference_sources[i]->name, name, length) == 0)
            return reference_sources[i];
    return NULL;
}
