/* SPDX-License-Identifier: MIT */
#include "disturbance.h"

#include <string.h>

#include "clock/counter/probe.h"
#include "log.h"

#define FOLDER "/sys/devices/system/clocksource/clocksource0/"
/* The kernel does not tell; it is asked. A file of a few bytes costs some microseconds. */
#define LOOK_NS 4000000000
/* Lines are meant to be followed for half a second; nobody is kept off a CPU for longer by chance.
 */
#define STALL_NS 1000000000

/* False: not to be read now, and all is as it was. */
static bool look(struct disturbance *disturbance, char *now, size_t size)
{
    char available[sizeof(disturbance->available)];
    if (counter_read_line(FOLDER "current_clocksource", now, size) != 0)
        return false;
    if (counter_read_line(FOLDER "available_clocksource", available, sizeof(available)) == 0)
        memcpy(disturbance->available, available, sizeof(available));
    disturbance->is_distrusted =
        counter_judge_clocksource(disturbance->counter_id, now, disturbance->available) ==
        COUNTER_OPINION_DISTRUSTS;
    return true;
}

void disturbance_start(struct disturbance *disturbance, int counter_id, int64_t mono_ns)
{
    static const struct disturbance none;
    *disturbance = none;
    disturbance->looked_ns = mono_ns;
    disturbance->counter_id = counter_id;
    if (!look(disturbance, disturbance->clocksource, sizeof(disturbance->clocksource)))
        log_line(LOG_INFO,
                 "the kernel's clocksource is not to be read here: changes of it will "
                 "not be noticed");
    if (disturbance->is_distrusted)
        log_line(LOG_WARNING,
                 "the kernel uses %s and distrusts the counter: it is unreliable for as long as "
                 "that is so; see dmesg for the reason",
                 disturbance->clocksource);
}

static void tell_change(const struct disturbance *disturbance, const char *now)
{
    log_line(LOG_WARNING, "the kernel has changed its clocksource from %s to %s: the counter is %s",
             disturbance->clocksource, now,
             disturbance->is_distrusted
                 ? "unreliable for as long as that is so; see dmesg for the reason"
                 : "taken for unreliable until it has shown its pace again");
}

bool disturbance_clocksource_changed(struct disturbance *disturbance, int64_t mono_ns)
{
    char now[sizeof(disturbance->clocksource)];
    if (mono_ns - disturbance->looked_ns < LOOK_NS)
        return false;
    disturbance->looked_ns = mono_ns;
    bool was_known = disturbance->clocksource[0] != '\0';
    if (!look(disturbance, now, sizeof(now)) || strcmp(now, disturbance->clocksource) == 0)
        return false;
    if (was_known)
        tell_change(disturbance, now);
    memcpy(disturbance->clocksource, now, sizeof(now));
    disturbance->clocksource_changes += was_known;
    return was_known;
}

bool disturbance_kernel_distrusts(const struct disturbance *disturbance)
{
    return disturbance->is_distrusted;
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
