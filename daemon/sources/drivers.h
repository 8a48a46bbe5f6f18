/* SPDX-License-Identifier: MIT */
/* drivers: the sources of claims, for their table in sources.c and for their tests. */
#ifndef REFERENCE_DRIVERS_H
#define REFERENCE_DRIVERS_H

#include "claim.h"

extern const struct reference_source reference_source_kernel;
extern const struct reference_source reference_source_chrony;
extern const struct reference_source reference_source_phc;
extern const struct reference_source reference_source_vmclock;
extern const struct reference_source reference_source_simulated;

#endif
