/* SPDX-License-Identifier: MIT */
#include "source_names.h"

#include <stddef.h>

const char *const source_names[] = {"kernel", "chrony", "phc", "vmclock", "simulated", NULL};
