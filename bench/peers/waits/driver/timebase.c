/* SPDX-License-Identifier: MIT
 *
 * timebase: exact, with the steadier tail, plain, and asleep for most of the time.
 */
#include <stddef.h>

#include <timebase.h>

#include "peer.h"

#define NEEDS_SLEEP_NS 100000 /* a shorter delay leaves no time to sleep in */

static struct timebase_waiter the_waiter;

static const char *open_waiter(int cpu)
{
    (void)cpu;
    int result = timebase_waiter_init(&the_waiter, timebase_clock_default());
    return result < 0 ? timebase_strerror(result) : NULL;
}

static void delay_exact(uint64_t ns)
{
    timebase_delay_ns(&the_waiter, ns, 0, NULL);
}

static void delay_steady(uint64_t ns)
{
    timebase_delay_ns(&the_waiter, ns, TIMEBASE_WAIT_STEADY, NULL);
}

static void delay_plain(uint64_t ns)
{
    timebase_delay_ns(&the_waiter, ns, TIMEBASE_WAIT_PLAIN, NULL);
}

static void delay_asleep(uint64_t ns)
{
    timebase_delay_ns(&the_waiter, ns, TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_PREPARE, NULL);
}

static void until(const struct appointment *appointment, unsigned flags)
{
    timebase_wait_until_ticks(&the_waiter, appointment->ticks, flags, NULL);
    appointment->event(appointment->argument);
}

static void call_at(const struct appointment *appointment, unsigned flags)
{
    timebase_wait_call_ticks(&the_waiter, appointment->ticks, flags, appointment->event,
                             appointment->argument, NULL);
}

static void until_exact(const struct appointment *appointment)
{
    until(appointment, 0);
}

static void until_steady(const struct appointment *appointment)
{
    until(appointment, TIMEBASE_WAIT_STEADY);
}

static void until_plain(const struct appointment *appointment)
{
    until(appointment, TIMEBASE_WAIT_PLAIN);
}

static void call_rehearsed(const struct appointment *appointment)
{
    call_at(appointment, TIMEBASE_WAIT_REHEARSE);
}

static void call_asleep(const struct appointment *appointment)
{
    call_at(appointment, TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_REHEARSE);
}

static const struct peer peers[] = {
    {"timebase_exact", delay_exact, 0, until_exact},
    {"timebase_steady", delay_steady, 0, until_steady},
    {"timebase_plain", delay_plain, 0, until_plain},
    {"timebase_rehearsed", NULL, 0, call_rehearsed},
    {"timebase_sleep", delay_asleep, NEEDS_SLEEP_NS, call_asleep},
    {NULL, NULL, 0, NULL},
};

const struct group timebase_group = {"timebase", open_waiter, peers};
