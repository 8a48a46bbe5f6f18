/* SPDX-License-Identifier: MIT */
#include "cadence.h"

#include <timebase/page.h>

#define MS UINT64_C(1000000)

/* A clock of one's own: samples are cheap, and taken in the slow path of a reader. */
#define OWN_FIRST_NS MS
#define OWN_MAX_NS (100 * MS)
/* With manual maintenance it may be polled faster, and its lines are overdue only after this. */
#define MANUAL_MIN_NS (MS / 2)
#define MANUAL_HORIZON_NS (1000 * MS)
/* Publishing takes about a microsecond; a short interruption of the writer should fit in too. */
#define OWN_LEAD_MIN_NS UINT64_C(20000)

/* A shared page: the lead exceeds the lease, and lead and slew fit into the first interval. */
#define SHARED_FIRST_NS (60 * MS)
#define SHARED_LEAD_NS (30 * MS)
/* Between the end of the longest slew and the next publication. */
#define SHARED_MARGIN_NS (20 * MS)

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct cadence cadence_own(bool is_manual)
{
    struct cadence cadence = {OWN_FIRST_NS, OWN_MAX_NS, 0, 0, is_manual};
    return cadence;
}

struct cadence cadence_shared(uint64_t max_ns)
{
    struct cadence cadence = {SHARED_FIRST_NS, max_ns, SHARED_LEAD_NS, TIMEBASE_PAGE_LEASE_NS,
                              false};
    return cadence;
}

uint64_t cadence_next_ns(const struct cadence *cadence, uint64_t interval_ns, uint64_t gap_ns,
                         bool is_disrupted)
{
    uint64_t next_ns = is_disrupted ? 0 : 2 * interval_ns;
    next_ns =
        cadence->is_manual ? larger(gap_ns, MANUAL_MIN_NS) : larger(next_ns, cadence->first_ns);
    return next_ns < cadence->max_ns ? next_ns : cadence->max_ns;
}

/*
 * The lead is a tenth of the interval. The slew follows: three tenths of the interval if there is
 * little to correct, up to eight tenths if there is much.
 */
static struct schedule schedule_own(uint64_t interval_ns, bool is_urgent, unsigned attempt)
{
    uint64_t lead_ns = is_urgent ? OWN_LEAD_MIN_NS : larger(interval_ns / 10, OWN_LEAD_MIN_NS);
    struct schedule schedule = {0};
    schedule.lead_ns = lead_ns << attempt;
    schedule.slew_ns = interval_ns * 3 / 10;
    schedule.slew_max_ns = interval_ns * 8 / 10;
    schedule.horizon_ns = interval_ns;
    schedule.before_ns = 2 * interval_ns; /* readers go on for as long if nobody renews */
    return schedule;
}

/*
 * The slew ends before the next step, so that no reader is about to change lines when new ones are
 * published.
 */
static struct schedule schedule_shared(const struct cadence *cadence, uint64_t interval_ns)
{
    uint64_t room_ns = interval_ns - cadence->lead_ns;
    struct schedule schedule = {0};
    schedule.lead_ns = cadence->lead_ns;
    schedule.slew_max_ns =
        room_ns > 2 * SHARED_MARGIN_NS ? room_ns - SHARED_MARGIN_NS : room_ns / 2;
    schedule.slew_ns = schedule.slew_max_ns / 3;
    schedule.horizon_ns = 2 * interval_ns;
    return schedule;
}

struct schedule cadence_schedule(const struct cadence *cadence, uint64_t interval_ns,
                                 uint64_t now_ticks, bool is_urgent, unsigned attempt)
{
    struct schedule schedule = cadence->lead_ns == 0
        ? schedule_own(larger(interval_ns, MANUAL_MIN_NS), is_urgent, attempt)
        : schedule_shared(cadence, larger(interval_ns, cadence->first_ns));
    if (cadence->is_manual)
        schedule.horizon_ns = MANUAL_HORIZON_NS;
    schedule.now_ticks = now_ticks;
    return schedule;
}
