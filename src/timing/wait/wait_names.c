/* SPDX-License-Identifier: MIT */
/* Names for people. */
#include <timebase/wait.h>

TIMEBASE_API const char *timebase_wait_mechanism_name(int mechanism)
{
    switch (mechanism) {
    case TIMEBASE_MECHANISM_NONE:
        return "none, the target had passed";
    case TIMEBASE_MECHANISM_LOOP:
        return "polling loop";
    case TIMEBASE_MECHANISM_JUMP:
        return "jump into a run of instructions";
    case TIMEBASE_MECHANISM_RETURN:
        return "return into a run of instructions";
    case TIMEBASE_MECHANISM_RUN:
        return "run of instructions alone";
    default:
        return "unknown mechanism";
    }
}

TIMEBASE_API const char *timebase_wait_disturbance_name(int disturbance_bit)
{
    switch (disturbance_bit) {
    case TIMEBASE_DISTURBED_INTERRUPT:
        return "interrupt";
    case TIMEBASE_DISTURBED_PREEMPTED:
        return "preempted";
    case TIMEBASE_DISTURBED_MIGRATED:
        return "migrated to another CPU";
    case TIMEBASE_DISTURBED_GAP:
        return "gap: hypervisor or firmware";
    case TIMEBASE_DISTURBED_THROTTLED:
        return "throttled real-time thread";
    case TIMEBASE_DISTURBED_UNEVEN:
        return "uneven readings";
    case TIMEBASE_DISTURBED_SHARED:
        return "shared core";
    default:
        return "unknown disturbance";
    }
}
