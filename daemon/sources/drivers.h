/* SPDX-License-Identifier: MIT */
/* drivers: the sources of claims, for their table in sources.c and for their tests. */
#ifndef SOURCES_DRIVERS_H
#define SOURCES_DRIVERS_H

#include "claim.h"

extern const struct source_driver source_driver_kernel;
extern const struct source_driver source_driver_chrony;
extern const struct source_driver source_driver_phc;
extern const struct source_driver source_driver_vmclock;
extern const struct source_driver source_driver_simulated;

#endif
