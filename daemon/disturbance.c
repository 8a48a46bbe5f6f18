/* SPDX-License-Identifier: MIT */
#include "disturbance.h"

#include <string.h>

#include "clock/counter/probe.h"
#include "log.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
/* The kernel does not tell; it is asked. A file of a few bytes costs some microseconds. */
#define LOOK_NS 4000000000
/* Lines are meant to be followed for half a second; nobody is kept off a CPU for longer by chance.
 */
#define STALL_NS 1000000000

void machine_start(struct machine *machine, int64_t mono_ns)
{
    static const struct machine none;
    *machine = none;
    machine->looked_ns = mono_ns;
    if (counter_read_line(CLOCKSOURCE, machine->clocksource, sizeof(machine->clocksource)) != 0)
        log_line(LOG_INFO,
                 "the kernel's clocksource is not to be read here: changes of it will "
                 "not be noticed");
}

bool machine_clocksource_changed(struct machine *machine, int64_t mono_ns)
{
    char now[sizeof(machine->clocksource)];
    if (machine->clocksource[0] == '\0' || mono_ns - machine->looked_ns < LOOK_NS)
        return false;
    machine->looked_ns = mono_ns;
    if (counter_read_line(CLOCKSOURCE, now, sizeof(now)) != 0 ||
        strcmp(now, machine->clocksource) == 0)
        return false;
    log_line(LOG_WARNING,
             "the kernel has changed its clocksource from %s to %s: the counter is taken for "
             "unreliable until it has shown its pace again; see dmesg for the reason",
             machine->clocksource, now);
    memcpy(machine->clocksource, now, sizeof(now));
    machine->clocksource_changes++;
    return true;
}

bool machine_stalled(struct machine *machine, int64_t due_ns, int64_t mono_ns)
{
    int64_t late_ns = mono_ns - due_ns;
    if (late_ns < STALL_NS)
        return false;
    machine->stalls++;
    log_line(LOG_WARNING,
             "kept from running for %lld ms: readers went on with the lines they had; if this is "
             "a virtual machine, it may have stood still",
             (long long)(late_ns / 1000000));
    return true;
}
