/* SPDX-License-Identifier: MIT */
#include "reference_names.h"

#include <stddef.h>

const char *const reference_names[] = {"kernel", "chrony", "phc", "vmclock", "simulated", NULL};
