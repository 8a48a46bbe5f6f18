/* SPDX-License-Identifier: MIT */
#include "status.h"

#define UNKN TIMEBASE_STATUS_UNKNOWN
#define INIT TIMEBASE_STATUS_INITIALIZING
#define SYNC TIMEBASE_STATUS_SYNCHRONIZED
#define FREE TIMEBASE_STATUS_FREERUNNING
#define UNRE TIMEBASE_STATUS_UNRELIABLE

/*
 * Down at once, up with care:
 * - a promise about UTC ends with the first sample that does not make it;
 * - a FREERUNNING clock needs two good samples in a row, so that a reference at its limit does not
 *   make it flap;
 * - a rough slope makes a clock INITIALIZING only if it is new or was UNRELIABLE: otherwise its
 *   bounds hold, and tell how rough the slope is;
 * - without samples an UNRELIABLE clock stays so: nothing has said that the counter is well again.
 */
static const unsigned char transitions[][STATUS_EVENTS] = {
    /*        nothing disrup. lost  missed rough-u rough unsync once  again */
    [UNKN] = {UNKN, UNRE, UNKN, UNKN, INIT, INIT, FREE, SYNC, SYNC},
    [INIT] = {UNKN, UNRE, FREE, INIT, INIT, INIT, FREE, SYNC, SYNC},
    [SYNC] = {UNKN, UNRE, FREE, SYNC, FREE, SYNC, FREE, SYNC, SYNC},
    [FREE] = {UNKN, UNRE, FREE, FREE, FREE, FREE, FREE, FREE, SYNC},
    [UNRE] = {UNKN, UNRE, UNRE, UNRE, INIT, INIT, FREE, SYNC, SYNC},
};

enum timebase_status status_next(enum timebase_status present, enum status_event event)
{
    return (enum timebase_status)transitions[present][event];
}
