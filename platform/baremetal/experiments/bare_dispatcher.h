/* SPDX-License-Identifier: MIT */
/* bare_dispatcher: what the library's dispatcher asks of a machine, without a system around it. */
#ifndef EXPERIMENTS_BARE_DISPATCHER_H
#define EXPERIMENTS_BARE_DISPATCHER_H

#include "machine.h"
#include "timing/calendar/admission.h"

/* Runs an admitted calendar to its end: 0, or the error of a wait. */
int bare_dispatcher_run(const struct admission *admission, const struct machine *machine,
                        struct timebase_waiter *waiter, struct timebase_unit_result *results);

#endif
