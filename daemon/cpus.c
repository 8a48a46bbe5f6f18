/* SPDX-License-Identifier: MIT */
#include "cpus.h"

#include <inttypes.h>

#include <timebase/error.h>

#include "sync/skew.h"
#include "log.h"

#define RETRY_NS INT64_C(1000000000)
/* More than that is no busy moment. */
#define ATTEMPTS 10
/* No bound at all: 23 s of a counter of 3 GHz, longer of any other, and no sum wraps. */
#define TICKS_MAX (UINT64_C(1) << 36)

static void tell(const struct spread *spread)
{
    if (spread->excludes_zero || spread->is_inconsistent)
        log_line(LOG_WARNING,
                 "the counters of CPUs differ%s: the bound is %" PRIu64 " ticks wider; see dmesg",
                 spread->is_inconsistent ? ", and not always by the same" : "",
                 spread->spread_ticks);
    else
        log_line(spread->is_measured ? LOG_INFO : LOG_WARNING,
                 "counters of %u of %u CPUs are within %" PRIu64 " ticks of each other",
                 spread->measured_cpus, spread->cpus, spread->spread_ticks);
}

static void give_up(struct cpus *cpus, const char *reason)
{
    cpus->retry_ns = INT64_MAX;
    log_line(LOG_WARNING, "CPUs are not compared (%s): their counters are taken for equal", reason);
}

void cpus_measure(struct cpus *cpus, int64_t mono_ns)
{
    struct spread spread;
    int error = spread_measure(&spread);
    cpus->attempts++;
    cpus->retry_ns = INT64_MAX;
    cpus->spread_ticks = 0;
    if (error == TIMEBASE_E_UNSUPPORTED) {
        give_up(cpus, "affinities or threads are refused");
    } else if (error == TIMEBASE_OK && spread.cpus == 1) {
        give_up(cpus, "this process may use one only");
    } else if (error == TIMEBASE_OK && spread.measured_cpus > 0) {
        cpus->spread_ticks = spread.spread_ticks < TICKS_MAX ? spread.spread_ticks : TICKS_MAX;
        tell(&spread);
    } else if (cpus->attempts < ATTEMPTS) {
        cpus->retry_ns = mono_ns + RETRY_NS;
    } else {
        give_up(cpus, "the others are always busy");
    }
}

bool cpus_measure_again(struct cpus *cpus, int64_t mono_ns)
{
    if (mono_ns < cpus->retry_ns)
        return false;
    cpus_measure(cpus, mono_ns);
    return cpus->spread_ticks != 0;
}
