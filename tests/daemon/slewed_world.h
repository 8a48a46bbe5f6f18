/* SPDX-License-Identifier: MIT */
/*
 * slewed_world: true time, a counter, and a system clock that is off and is slewed back; and the
 * drivers of the daemon as they are, over devices that know true time to a microsecond.
 */
#ifndef TEST_SLEWED_WORLD_H
#define TEST_SLEWED_WORLD_H

#include <linux/ptp_clock.h>
#include <string.h>

#include <timebase/error.h>

#include "daemon/sources/chrony.h"
#include "daemon/sources/phc.h"
#include "daemon/sources/sources.h"
#include "daemon/sources/vmclock.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define UTC_AT (1700000000 * SECOND)
#define TICKS_AT UINT64_C(1000000000)
#define DEVICE_ERROR_NS 1000

enum { TICKS_PER_NS = 3 };

static struct slewed_world {
    int64_t now_ns; /* true time */
    int64_t off_ns; /* the system clock is fast by so much until slew_from */
    int64_t slew_from_ns;
    double slew_ppm;
    bool is_adjtime; /* what is left of it is told too late */
    bool is_silent;  /* adjtimex is refused */
    int64_t vmclock_seq;
} slewed;

static inline int64_t slewed_ns(int64_t now_ns)
{
    double done = (double)(now_ns - slewed.slew_from_ns) * slewed.slew_ppm * 1e-6;
    if (now_ns < slewed.slew_from_ns)
        return 0;
    return done < (double)slewed.off_ns ? (int64_t)done : slewed.off_ns;
}

static inline int64_t theta_ns(void)
{
    return slewed.off_ns - slewed_ns(slewed.now_ns);
}

static inline int64_t mono_ns(void)
{
    return 1000 * SECOND + slewed.now_ns + theta_ns();
}

/* UTC - monotonic, were the system clock right. */
#define UTC_OFFSET (UTC_AT - 1000 * SECOND)

static inline int64_t utc_ns(void)
{
    return UTC_AT + slewed.now_ns;
}

static inline uint64_t slewed_ticks(void *context)
{
    (void)context;
    return TICKS_AT + TICKS_PER_NS * (uint64_t)slewed.now_ns;
}

/* As the kernel tells: adjtime()'s remainder is gone a second before its end. */
static inline struct slew slew_of_world(void)
{
    int64_t rate_ppb = -(int64_t)(slewed.slew_ppm * 1000);
    bool is_slewing = slewed.now_ns >= slewed.slew_from_ns && theta_ns() > 0;
    int64_t left_ns = slewed.is_adjtime ? theta_ns() - rate_ppb : theta_ns();
    if (slewed.is_silent)
        return slew_unknown();
    if (slewed.is_adjtime)
        return (struct slew){true, is_slewing && left_ns > 0 ? rate_ppb : 0, 500000};
    return (struct slew){true, is_slewing ? rate_ppb : 0,
                         500000 + (uint64_t)(is_slewing ? -rate_ppb : 0)};
}

/* ---- a PTP clock, behind the driver's own calls -------------------------------------------- */

static inline struct ptp_clock_time ptp_time(int64_t ns)
{
    return (struct ptp_clock_time){.sec = ns / SECOND, .nsec = (uint32_t)(ns % SECOND)};
}

static inline int world_ioctl(int fd, unsigned long request, void *argument)
{
    struct ptp_sys_offset_extended *samples = argument;
    (void)fd;
    if (request != PTP_SYS_OFFSET_EXTENDED)
        return 0;
    for (unsigned i = 0; i < samples->n_samples; i++) {
        int64_t system_ns = mono_ns() + UTC_OFFSET;
        samples->ts[i][0] = ptp_time(system_ns);
        slewed.now_ns += 400;
        samples->ts[i][1] = ptp_time(utc_ns());
        slewed.now_ns += 400;
        samples->ts[i][2] = ptp_time(mono_ns() + UTC_OFFSET);
    }
    return 0;
}

static inline int world_offset(int64_t *ns)
{
    *ns = UTC_OFFSET;
    return 0;
}

static const struct phc_calls world_calls = {.ioctl = world_ioctl, .utc_offset = world_offset};

static inline int open_world_phc(void *context, const char *argument)
{
    (void)argument;
    return phc_open(context, "/dev/null,error=1us,scale=utc", &world_calls);
}

static inline int claim_world_phc(void *context, struct claim *claim)
{
    return phc_claim(context, claim);
}

static inline void close_world_phc(void *context)
{
    phc_close(context);
}

/* ---- a hypervisor's page ------------------------------------------------------------------- */

static inline int open_nothing(void *context, const char *argument)
{
    (void)argument;
    *(const char **)context = NULL;
    return TIMEBASE_OK;
}

static inline int claim_world_vmclock(void *context, struct claim *claim)
{
    const struct vmclock clock = {
        .counter_id = 1,
        .time_type = VMCLOCK_UTC,
        .seq = 2,
        .flags = VMCLOCK_TIME_MAXERROR_VALID | VMCLOCK_PERIOD_MAXERROR_VALID,
        .status = VMCLOCK_SYNCHRONIZED,
        .counter_value = TICKS_AT,
        .period = UINT64_MAX / ((uint64_t)TICKS_PER_NS * SECOND),
        .time_sec = UTC_AT / SECOND,
        .time_maxerror_ns = DEVICE_ERROR_NS,
        .period_maxerror = 1,
    };
    const struct vmclock_moment moment = {.ticks = slewed_ticks(NULL),
                                          .error_ticks = 60,
                                          .mono_ns = mono_ns(),
                                          .utc_offset_ns = UTC_OFFSET,
                                          .counter_id = 1};
    return vmclock_claim(&clock, &moment, claim, context);
}

/* ---- chronyd, which is itself who slews ---------------------------------------------------- */

static inline int claim_world_chrony(void *context, struct claim *claim)
{
    int64_t asked_ns = mono_ns();
    (void)context;
    slewed.now_ns += 100000; /* it answers meanwhile */
    struct chrony_tracking tracking = {.reference_id = 0x0a000001,
                                       .stratum = 2,
                                       .correction_ns = -theta_ns(),
                                       .root_delay_ns = 1000,
                                       .root_dispersion_ns = 500,
                                       .skew_ppb = 10};
    slewed.now_ns += 100000;
    *claim = chrony_claim(&tracking, NULL, asked_ns, mono_ns());
    return TIMEBASE_OK;
}

static inline void close_nothing(void *context)
{
    (void)context;
}

static const struct source_driver world_drivers[] = {
    {.name = "phc",
     .context_size = sizeof(struct phc),
     .open = open_world_phc,
     .claim = claim_world_phc,
     .close = close_world_phc},
    {.name = "vmclock",
     .context_size = sizeof(char *),
     .open = open_nothing,
     .claim = claim_world_vmclock,
     .close = close_nothing},
    {.name = "chrony",
     .context_size = sizeof(char *),
     .open = open_nothing,
     .claim = claim_world_chrony,
     .close = close_nothing},
};

static inline void begin_slewed(struct sources *sources, const struct source_driver *driver)
{
    static const struct sources none;
    *sources = none;
    sources->count = 1;
    sources->drift_ppb = 50000;
    sources->known_since_ns = INT64_MIN;
    sources->read_slew = slew_of_world;
    strcpy(sources->list[0].name, driver->name);
    sources->list[0].driver = driver;
}

static inline struct discipline_sample sample_of_world(void)
{
    struct discipline_sample sample = {
        .ticks_before = slewed_ticks(NULL) - 60,
        .ticks_after = slewed_ticks(NULL) + 60,
        .step_ticks = 1,
        .mono_ns = mono_ns(),
        .utc_offset_ns = UTC_OFFSET,
        .maxerror_ns = 16 * SECOND,
        .maxerror_ppb = 500000,
        .flags = TIMEBASE_LINE_ESTIMATE,
    };
    return sample;
}

#endif
