/* SPDX-License-Identifier: MIT */
#include "disturbance.h"

#include <string.h>

#include "log.h"

/* Lines want renewal half a second after a sample. Chance hardly keeps a process off a CPU for
 * twice as long. */
#define STALL_NS 1000000000

static bool is_distrusted(const struct disturbance *disturbance,
                          const struct counter_clocksource *seen)
{
    return counter_judge_clocksource(disturbance->counter_id, seen->current, seen->available) ==
        COUNTER_OPINION_DISTRUSTS;
}

void disturbance_start(struct disturbance *disturbance, int counter_id,
                       const struct counter_clocksource *seen)
{
    static const struct disturbance none;
    *disturbance = none;
    disturbance->counter_id = counter_id;
    memcpy(disturbance->clocksource, seen->current, sizeof(seen->current));
    if (seen->current[0] == '\0')
        log_line(LOG_INFO,
                 "the kernel's clocksource cannot be read here: the daemon will not notice "
                 "when it changes");
    if (is_distrusted(disturbance, seen))
        log_line(LOG_WARNING,
                 "the kernel uses %s and distrusts the counter: it is unreliable for as long as "
                 "that is so; see dmesg for the reason",
                 seen->current);
}

static void tell_change(const struct disturbance *disturbance,
                        const struct counter_clocksource *seen)
{
    log_line(LOG_WARNING, "the kernel has changed its clocksource from %s to %s: the counter is %s",
             disturbance->clocksource, seen->current,
             is_distrusted(disturbance, seen)
                 ? "unreliable for as long as that is so; see dmesg for the reason"
                 : "taken for unreliable until it has shown its pace again");
}

bool disturbance_clocksource_changed(struct disturbance *disturbance,
                                     const struct counter_clocksource *seen)
{
    bool was_known = disturbance->clocksource[0] != '\0';
    if (strcmp(seen->current, disturbance->clocksource) == 0)
        return false;
    if (was_known)
        tell_change(disturbance, seen);
    memcpy(disturbance->clocksource, seen->current, sizeof(seen->current));
    disturbance->clocksource_changes += was_known;
    return was_known;
}

bool disturbance_stalled(struct disturbance *disturbance, int64_t due_ns, int64_t mono_ns)
{
    int64_t late_ns = mono_ns - due_ns;
    if (late_ns < STALL_NS)
        return false;
    disturbance->stalls++;
    log_line(LOG_WARNING,
             "kept from running for %lld ms: readers went on with the lines they had; if this is "
             "a virtual machine, it may have stood still",
             (long long)(late_ns / 1000000));
    return true;
}
