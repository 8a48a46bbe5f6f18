/* SPDX-License-Identifier: MIT */
/* Any bytes as the client's text: refused, or numbers and a claim within their ranges. */
#include <stdint.h>
#include <stdlib.h>

#include "daemon/sources/chrony.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct chrony_tracking tracking;
    struct reference_claim claim;
    int64_t low_ns, high_ns;
    if (chrony_parse((const char *)data, size, &tracking) != 0)
        return 0;
    if (tracking.stratum > 16 || tracking.root_delay_ns < 0 || tracking.root_dispersion_ns < 0 ||
        tracking.rms_offset_ns < 0 || tracking.skew_ppb < 0)
        abort();
    claim = chrony_claim(&tracking, 0);
    if (claim.error_ns < (uint64_t)tracking.root_dispersion_ns)
        abort();
    reference_claim_ends(&claim, tracking.reference_time_ns, UINT32_MAX, &low_ns, &high_ns);
    if (low_ns > claim.offset_ns || high_ns < claim.offset_ns)
        abort();
    return 0;
}
