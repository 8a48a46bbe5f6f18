/* SPDX-License-Identifier: MIT */
/*
 * kernel: what adjtimex says of CLOCK_REALTIME. An ESTIMATE: the daemon that sets maxerror leaves
 * out the offset that it still knows of (chronyd's maxerror is root_delay / 2 + dispersion, without
 * |system time|), and the kernel cannot know it. Only the phase that the kernel's own loop is
 * correcting is in it. It grows by 500 ppm, as the kernel's maxerror does (MAXFREQ), and by what
 * adjtimex says that the clock is steered faster.
 */
#include <timebase/error.h>

#include "clock/counter/readable.h"
#include "clock/discipline/assumptions.h"
#include "drivers.h"
#include "clock/reference/reference.h"
#include "clock/reference/slew.h"

struct kernel_context {
    const char *reason;
};

static int open_kernel(void *context, const char *argument)
{
    struct kernel_context *kernel = (struct kernel_context *)context;
    kernel->reason = argument != NULL ? "the kernel takes no argument" : NULL;
    return argument != NULL ? TIMEBASE_E_INVALID : TIMEBASE_OK;
}

static uint32_t dispersion_ppb(const struct slew *slew)
{
    if (!slew->is_known)
        return ASSUME_SLEW_PPM * 1000; /* adjtimex() was refused: nothing else is known either */
    return slew->most_ppb < UINT32_MAX ? (uint32_t)slew->most_ppb : UINT32_MAX;
}

static int claim_kernel(void *context, struct claim *claim)
{
    struct kernel_context *kernel = (struct kernel_context *)context;
    struct reference_kernel said;
    struct slew slew = slew_read();
    int64_t mono_ns = counter_clock_ns(CLOCK_MONOTONIC);
    reference_ask_kernel(&said);
    kernel->reason = mono_ns == INT64_MIN ? "CLOCK_MONOTONIC cannot be read" : NULL;
    if (mono_ns == INT64_MIN)
        return TIMEBASE_E_REFERENCE;
    *claim = (struct claim){
        .mono_ns = mono_ns,
        .measured_ns = mono_ns, /* nobody tells when; it is an estimate in any case */
        .error_ns = (uint64_t)said.maxerror_ns,
        .dispersion_ppb = dispersion_ppb(&slew),
        .flags = said.flags,
        .is_synchronized = said.is_synchronized != 0,
    };
    return TIMEBASE_OK;
}

static void close_kernel(void *context)
{
    (void)context;
}

const struct source_driver source_driver_kernel = {
    .name = "kernel",
    .context_size = sizeof(struct kernel_context),
    .is_estimate = true,
    .open = open_kernel,
    .claim = claim_kernel,
    .close = close_kernel,
};
