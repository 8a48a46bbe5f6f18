/* SPDX-License-Identifier: MIT */
/*
 * From chronyd's numbers to a bound (docs/guide/sources.md has the derivation):
 *
 *     offset = -correction                            CLOCK_REALTIME - UTC
 *     error  = root_delay / 2 + root_dispersion       assuming that the stratum-1 computer is right
 *            + (SIGMAS - 1) * sigma                   root_dispersion has one sigma in it
 *            + |last_offset|                          an update as the last one may be due
 *            + rounding of the answer's numbers
 *     dispersion = skew + |residual frequency|
 *
 * sigma, the standard deviation of chronyd's offset, is not told by `tracking`. It is no more than
 * root_dispersion, which contains it; and the offsets of past updates, of which the long-term
 * average and the last one are told, scatter by as much. The smaller of the two is taken.
 */
#include <timebase/page.h>

#include "chrony.h"
#include "saturate.h"

/* RFC 5905's jitter is one sigma; errata 5604 asks for at least sqrt(3), or 5. */
#define SIGMAS 5
/* chronyd's numbers travel with 24 significant bits: two more than enough. */
#define FLOAT_BITS 22
/* Each is cut off to the nanosecond, and one is halved. */
#define CUT_NS 6
/* adjtimex moves CLOCK_REALTIME at 10 % and 500 ppm at most: an eighth is more. */
#define CORRECTION_SHARE 8

#define LOCAL_REFERENCE 0x7F7F0101u /* chronyd serves its own, undisciplined clock */
#define STRATUM_UNSYNCHRONISED 16

static bool is_synchronized(const struct chrony_tracking *tracking)
{
    return tracking->leap != CHRONY_LEAP_UNSYNCHRONISED && tracking->stratum > 0 &&
        tracking->stratum < STRATUM_UNSYNCHRONISED && tracking->reference_id != 0 &&
        tracking->reference_id != LOCAL_REFERENCE;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t sigma_ns(const struct chrony_tracking *tracking)
{
    uint64_t scatter_ns =
        larger((uint64_t)tracking->rms_offset_ns, saturate_abs(tracking->last_offset_ns));
    return smaller((uint64_t)tracking->root_dispersion_ns, scatter_ns);
}

static uint64_t error_ns(const struct chrony_tracking *tracking)
{
    uint64_t error_ns = ((uint64_t)tracking->root_delay_ns + 1) / 2;
    error_ns = saturate_add(error_ns, (uint64_t)tracking->root_dispersion_ns);
    for (int i = 1; i < SIGMAS; i++)
        error_ns = saturate_add(error_ns, sigma_ns(tracking));
    error_ns = saturate_add(error_ns, saturate_abs(tracking->last_offset_ns));
    uint64_t told_ns = saturate_add(error_ns, saturate_abs(tracking->correction_ns));
    return saturate_add(error_ns, (told_ns >> FLOAT_BITS) + CUT_NS);
}

static uint32_t dispersion_ppb(const struct chrony_tracking *tracking)
{
    uint64_t skew_ppb = (uint64_t)tracking->skew_ppb;
    /* Both are cut off to the ppb. */
    uint64_t dispersion_ppb = saturate_add(skew_ppb + 2, saturate_abs(tracking->residual_ppb));
    return (uint32_t)smaller(dispersion_ppb, UINT32_MAX);
}

static uint32_t leap_flags(enum chrony_leap leap)
{
    if (leap == CHRONY_LEAP_INSERT)
        return TIMEBASE_LINE_LEAP_INSERT;
    return leap == CHRONY_LEAP_DELETE ? TIMEBASE_LINE_LEAP_DELETE : 0;
}

/*
 * Of the offset's change since the answer before: its digits, what chronyd has slewed between
 * question and answer, and, if it has updated its clock meanwhile, by how much.
 */
static uint64_t read_error_ns(const struct chrony_tracking *tracking,
                              const struct chrony_tracking *before, uint64_t took_ns)
{
    uint64_t offset_ns = saturate_abs(tracking->correction_ns);
    uint64_t slewed_ns = smaller(took_ns / CORRECTION_SHARE, offset_ns);
    uint64_t error_ns = (offset_ns >> FLOAT_BITS) + 2 + slewed_ns;
    if (before != NULL && before->reference_time_ns != tracking->reference_time_ns)
        error_ns = saturate_add(error_ns, saturate_abs(tracking->last_offset_ns));
    return error_ns;
}

struct claim chrony_claim(const struct chrony_tracking *tracking,
                          const struct chrony_tracking *before, int64_t asked_ns,
                          int64_t answered_ns)
{
    /* Without a source chronyd's numbers are left over, or those of its own clock. */
    if (!is_synchronized(tracking))
        return (struct claim){.mono_ns = asked_ns, .error_ns = UINT64_MAX};
    return (struct claim){
        .mono_ns = asked_ns,
        .offset_ns = -tracking->correction_ns,
        .error_ns = error_ns(tracking),
        .read_error_ns = read_error_ns(tracking, before, saturate_distance(answered_ns, asked_ns)),
        .dispersion_ppb = dispersion_ppb(tracking),
        .flags = leap_flags(tracking->leap),
        .is_synchronized = true,
        .is_correcting = true,
    };
}

/*
 * chronyd's clock and CLOCK_MONOTONIC have gone apart since by what was slewed, and the correction
 * is rounded: the measurement is no later than this. A time in the future,
 * as after a step that chronyd has not heard of, is as wrong as it is far.
 */
int64_t chrony_measured_ns(const struct chrony_tracking *tracking, int64_t answered_ns,
                           int64_t utc_offset_ns)
{
    int64_t utc_ns;
    if (__builtin_add_overflow(answered_ns, utc_offset_ns, &utc_ns) ||
        __builtin_add_overflow(utc_ns, tracking->correction_ns, &utc_ns))
        return INT64_MIN;
    uint64_t age_ns = saturate_distance(utc_ns, tracking->reference_time_ns);
    uint64_t rounding_ns = (saturate_abs(tracking->correction_ns) >> FLOAT_BITS) + CUT_NS;
    age_ns = saturate_add(age_ns, age_ns / CORRECTION_SHARE);
    return saturate_down(answered_ns, saturate_add(age_ns, rounding_ns));
}
