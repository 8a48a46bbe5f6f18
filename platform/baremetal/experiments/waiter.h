/* SPDX-License-Identifier: MIT */
/* waiter: the one waiter of the machine, calibrated when it is first asked for. */
#ifndef EXPERIMENTS_WAITER_H
#define EXPERIMENTS_WAITER_H

#include <timebase/wait.h>

#include "machine.h"

struct timebase_waiter *waiter_of_machine(const struct machine *machine);

#endif
