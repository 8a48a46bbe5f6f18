/* SPDX-License-Identifier: MIT */
/*
 * From the page to a claim. d ticks after counter_value:
 *
 *     time  = time_sec + time_frac / 2^64 + d * period / 2^(64 + shift)
 *     error = time_maxerror + |d| * period_maxerror
 *           + what passed between counter and system clock + rounding
 *
 * Where the page does not bound the period's error, the configured allowance of the oscillator
 * takes its place. The code that ages the claim applies that allowance.
 */
#include <timebase/arithmetic.h>
#include <timebase/error.h>
#include <timebase/page.h>

#include "clock/counter/marker.h"
#include "saturate.h"
#include "vmclock.h"

#define SEC_NS 1000000000u
#define SEC_MAX 8000000000u /* the year 2223: its nanoseconds fit */
#define DAY_NS 86400000000000
#define ROUNDING_NS 3
/* An estimated error is one sigma; the bound is this many, as in chrony_bound.c. */
#define SIGMAS 5

/* A length of time: seconds and 2^-64 of them. */
struct seconds {
    uint64_t sec, frac;
};

/* ticks * period / 2^(64 + shift) seconds, rounded down; shift is below 64. */
static struct seconds seconds_of(uint64_t ticks, uint64_t period, unsigned shift)
{
    uint64_t low, high = timebase_multiply(ticks, period, &low);
    if (shift == 0)
        return (struct seconds){high, low};
    return (struct seconds){high >> shift, low >> shift | high << (64 - shift)};
}

/* Rounded up, and saturated. */
static uint64_t seconds_ns(struct seconds span)
{
    if (span.sec > SEC_MAX)
        return UINT64_MAX;
    return span.sec * SEC_NS + timebase_multiply_high(span.frac, SEC_NS) + 1;
}

/* |d|, and whether the moment lies before counter_value. */
static uint64_t distance(const struct vmclock *clock, uint64_t ticks, bool *is_before)
{
    uint64_t d = ticks - clock->counter_value;
    *is_before = (int64_t)d < 0;
    return *is_before ? -d : d;
}

static bool time_at(const struct vmclock *clock, uint64_t ticks, int64_t *ns)
{
    bool is_before;
    uint64_t d = distance(clock, ticks, &is_before);
    struct seconds span = seconds_of(d, clock->period, clock->period_shift);
    struct seconds time = {clock->time_sec, clock->time_frac};
    if (time.sec > SEC_MAX || span.sec > SEC_MAX)
        return false;
    if (is_before) {
        time.sec -= span.sec + (time.frac < span.frac);
        time.frac -= span.frac;
    } else {
        time.frac += span.frac;
        time.sec += span.sec + (time.frac < span.frac);
    }
    if (time.sec > SEC_MAX) /* or below 0 */
        return false;
    *ns = (int64_t)(time.sec * SEC_NS + timebase_multiply_high(time.frac, SEC_NS));
    return true;
}

static uint64_t period_error_ns(const struct vmclock *clock, uint64_t ticks)
{
    bool is_before;
    uint64_t d = distance(clock, ticks, &is_before);
    if (clock->flags & VMCLOCK_PERIOD_MAXERROR_VALID)
        return seconds_ns(seconds_of(d, clock->period_maxerror, clock->period_shift));
    return 0;
}

/* Since when only the oscillator's allowance says how wrong the period is. */
static uint64_t drifting_ns(const struct vmclock *clock, uint64_t ticks)
{
    bool is_before;
    uint64_t d = distance(clock, ticks, &is_before);
    if (clock->flags & VMCLOCK_PERIOD_MAXERROR_VALID)
        return 0;
    return seconds_ns(seconds_of(d, clock->period, clock->period_shift));
}

static uint64_t time_error_ns(const struct vmclock *clock)
{
    if (clock->flags & VMCLOCK_TIME_MAXERROR_VALID)
        return clock->time_maxerror_ns;
    if (!(clock->flags & VMCLOCK_TIME_ESTERROR_VALID) ||
        clock->time_esterror_ns > UINT64_MAX / SIGMAS)
        return UINT64_MAX;
    return clock->time_esterror_ns * SIGMAS;
}

/* Between the counter and the system clock. */
static uint64_t read_error_ns(const struct vmclock *clock, const struct vmclock_moment *moment)
{
    uint64_t read_ns =
        seconds_ns(seconds_of(moment->error_ticks, clock->period, clock->period_shift));
    return saturate_add(read_ns, ROUNDING_NS);
}

static uint64_t error_ns(const struct vmclock *clock, const struct vmclock_moment *moment)
{
    uint64_t error_ns = saturate_add(time_error_ns(clock), period_error_ns(clock, moment->ticks));
    return saturate_add(error_ns, read_error_ns(clock, moment));
}

/* period_maxerror as a part of the period, rounded up. */
static uint32_t dispersion_ppb(const struct vmclock *clock)
{
    uint64_t error = clock->period_maxerror, period = clock->period;
    if (!(clock->flags & VMCLOCK_PERIOD_MAXERROR_VALID))
        return 0; /* the oscillator's allowance comes on top in any case */
    for (; error >> 33 != 0; period >>= 1)
        error = (error >> 1) + 1;
    if (period == 0 || error * SEC_NS / period >= UINT32_MAX)
        return UINT32_MAX;
    return (uint32_t)(error * SEC_NS / period) + 1;
}

/* Is the next day the first of a month? Days since 1970; by 400-year eras of years that begin in
 * March. */
static bool is_last_of_month(int64_t day)
{
    int64_t in_era = (day + 1 + 719468) % 146097;
    int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * in_year + 2) / 153;
    return in_year == (153 * month + 2) / 5;
}

/* The page announces a leap second for the end of the month, but a line for the end of the day. */
static uint32_t line_flags(const struct vmclock *clock, int64_t utc_ns)
{
    uint32_t flags = 0;
    if (clock->flags & VMCLOCK_TAI_OFFSET_VALID)
        flags =
            TIMEBASE_LINE_TAI_VALID | (uint32_t)clock->tai_offset_sec << TIMEBASE_LINE_TAI_SHIFT;
    if (is_last_of_month(utc_ns / DAY_NS) && clock->leap == VMCLOCK_LEAP_INSERT)
        flags |= TIMEBASE_LINE_LEAP_INSERT;
    if (is_last_of_month(utc_ns / DAY_NS) && clock->leap == VMCLOCK_LEAP_DELETE)
        flags |= TIMEBASE_LINE_LEAP_DELETE;
    return flags;
}

/* Why the page tells no UTC; null: it does. */
static const char *why_no_utc(const struct vmclock *clock)
{
    if (clock->status == VMCLOCK_UNRELIABLE)
        return "the hypervisor says that its clock is unreliable";
    if (clock->status != VMCLOCK_SYNCHRONIZED && clock->status != VMCLOCK_FREERUNNING)
        return "the hypervisor's clock is not synchronised";
    if (clock->time_type == VMCLOCK_SMEARED || clock->time_type == VMCLOCK_MAYBE_SMEARED)
        return "the hypervisor's clock smears leap seconds";
    if (clock->time_type == VMCLOCK_TAI && !(clock->flags & VMCLOCK_TAI_OFFSET_VALID))
        return "the hypervisor's clock shows TAI, and does not tell TAI - UTC";
    if (clock->time_type == VMCLOCK_UTC && clock->leap == VMCLOCK_LEAP_NOW)
        return "the hypervisor's clock is within a leap second";
    if (clock->time_type != VMCLOCK_UTC && clock->time_type != VMCLOCK_TAI)
        return "the hypervisor's clock does not show UTC";
    return NULL;
}

static enum claim_notice notice(const struct vmclock *clock)
{
    if (clock->flags & VMCLOCK_DISRUPTION_IMMINENT)
        return CLAIM_NOTICE_IMMINENT;
    return clock->flags & VMCLOCK_DISRUPTION_SOON ? CLAIM_NOTICE_SOON : CLAIM_NOTICE_NONE;
}

uint64_t vmclock_step_ns(const struct vmclock *before, const struct vmclock *now, uint64_t ticks)
{
    int64_t before_ns, now_ns;
    if (before->time_type != now->time_type || before->period_shift > 63 ||
        now->period_shift > 63 || !time_at(before, ticks, &before_ns) ||
        !time_at(now, ticks, &now_ns))
        return UINT64_MAX;
    return saturate_distance(before_ns, now_ns);
}

int vmclock_claim(const struct vmclock *clock, const struct vmclock_moment *moment,
                  struct claim *claim, const char **reason)
{
    int64_t time_ns;
    *claim = (struct claim){
        .mono_ns = moment->mono_ns,
        .measured_ns = moment->mono_ns, /* the hypervisor corrects its page with the marker */
        .error_ns = UINT64_MAX,
        .disruption_marker = counter_marker(clock->disruption_marker, clock->generation),
        .notice = notice(clock),
    };
    *reason = why_no_utc(clock);
    if (*reason != NULL)
        return TIMEBASE_OK;
    *reason = "the hypervisor's clock runs on another counter than this process";
    if (clock->counter_id != moment->counter_id)
        return TIMEBASE_E_UNSUPPORTED;
    *reason = "the hypervisor's page has impossible numbers in it";
    if (clock->period == 0 || clock->period_shift > 63 || !time_at(clock, moment->ticks, &time_ns))
        return TIMEBASE_E_FORMAT;
    *reason = NULL;
    int64_t tai_sec = clock->time_type == VMCLOCK_TAI ? clock->tai_offset_sec : 0;
    int64_t utc_ns = time_ns - tai_sec * SEC_NS;
    claim->offset_ns = moment->mono_ns + moment->utc_offset_ns - utc_ns;
    claim->error_ns = error_ns(clock, moment);
    claim->read_error_ns = read_error_ns(clock, moment);
    claim->dispersion_ppb = dispersion_ppb(clock);
    claim->drifting_ns = drifting_ns(clock, moment->ticks);
    claim->flags = line_flags(clock, utc_ns);
    claim->is_slewed_by_others = true;
    claim->is_synchronized =
        clock->status == VMCLOCK_SYNCHRONIZED && (clock->flags & VMCLOCK_TIME_MAXERROR_VALID) != 0;
    return TIMEBASE_OK;
}
