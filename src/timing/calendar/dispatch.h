/* SPDX-License-Identifier: MIT */
/*
 * dispatch: the loop that runs a calendar. It knows its machine by three operations only, so that
 * tests can give it a simulated one.
 */
#ifndef CALENDAR_DISPATCH_H
#define CALENDAR_DISPATCH_H

#include "pattern.h"

/* The dispatcher reads the stop flag at least this often ... */
#define DISPATCH_SLICE_NS 50000000
/* ... until this long before a release. Then the release's wait sleeps, and learns from the sleep.
 */
#define DISPATCH_HANDOVER_NS 30000000

/* What became of one call. */
struct dispatch_outcome {
    double error_ns; /* begin - target */
    int64_t ran_ns;
    uint32_t disturbance; /* enum timebase_wait_disturbance */
    bool is_late;
    bool is_timed_out;
};

struct dispatch_machine {
    /* Monotonic. Called between units only. */
    int64_t (*now)(void *context);
    /* Let time pass until then, or less; flags say whether to sleep. */
    void (*rest)(void *context, int64_t until_ns, uint32_t flags);
    /* Begin the unit's action at target_ns, or at once if that has passed; stop it at its time-out.
     * Returns 0, or an error: it was not begun. */
    int (*call)(void *context, const struct timebase_unit *unit, int64_t target_ns,
                struct dispatch_outcome *outcome);
};

struct dispatch {
    const struct timebase_calendar *calendar;
    const struct pattern *patterns;
    int64_t start_ns;
    const struct dispatch_machine *machine;
    void *context;
    struct timebase_unit_result *results;
};

/* Until all releases are done or the calendar's stop flag is set: 0; or the error of a call. */
int dispatch_run(const struct dispatch *dispatch);

#endif
