/* SPDX-License-Identifier: MIT */
#include "clock/discipline/assumptions.h"
#include "claim.h"
#include "saturate.h"

/* adjtimex moves CLOCK_REALTIME at 10 % and 500 ppm at most: an eighth is more. */
#define CORRECTION_SHARE 8

/*
 * A correction takes offset_ns towards 0 and not beyond. The claim is widened by as far as the
 * correction has had time to go, so it covers the whole way.
 */
static uint64_t corrected(const struct claim *claim, uint64_t age_ns)
{
    uint64_t offset_ns = saturate_abs(claim->offset_ns);
    uint64_t moved_ns = age_ns / CORRECTION_SHARE;
    if (!claim->is_correcting)
        return 0;
    return moved_ns < offset_ns ? moved_ns : offset_ns;
}

/* A source that has not asked the kernel assumes the rate that any daemon may slew with. */
static uint64_t slewed_ppb(const struct claim *claim)
{
    const uint32_t least_ppb = ASSUME_SLEW_PPM * 1000;
    return claim->slew_ppb > least_ppb ? claim->slew_ppb : least_ppb;
}

void claim_ends(const struct claim *claim, int64_t mono_ns, uint32_t drift_ppb, int64_t *low_ns,
                int64_t *high_ns)
{
    /* A claim may also be newer than the instant that is asked for. It is aged in the same way
     * then. */
    uint64_t age_ns = saturate_distance(mono_ns, claim->mono_ns);
    /* Who corrects may have measured since, and found another offset than it has told. */
    bool is_slewed = claim->is_slewed_by_others || claim->is_correcting;
    uint64_t slew_ppb = is_slewed ? slewed_ppb(claim) : 0;
    uint64_t rate_ppb = slew_ppb + claim->dispersion_ppb + drift_ppb;
    uint64_t error_ns = saturate_add(claim->error_ns, saturate_growth(age_ns, rate_ppb));
    error_ns = saturate_add(error_ns, saturate_growth(claim->drifting_ns, drift_ppb));
    uint64_t moved_ns = corrected(claim, age_ns);
    uint64_t below_ns = claim->offset_ns > 0 ? moved_ns : 0;
    uint64_t above_ns = claim->offset_ns > 0 ? 0 : moved_ns;
    *low_ns = saturate_down(claim->offset_ns, saturate_add(error_ns, below_ns));
    *high_ns = saturate_up(claim->offset_ns, saturate_add(error_ns, above_ns));
}

const char *source_reason(const void *context)
{
    const char *reason = *(const char *const *)context;
    return reason != NULL ? reason : "no failure";
}
