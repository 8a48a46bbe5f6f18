/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as chronyd's answer: refused, or numbers and a claim within their ranges.
 *
 * fuzz-runs: 2000000
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/sources/chrony.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The sequence number is the answer's own: else all but one in 2^32 would be passed over. */
static uint32_t sequence_of(const uint8_t *data, size_t size)
{
    if (size < 20)
        return 0;
    return (uint32_t)data[16] << 24 | (uint32_t)data[17] << 16 | (uint32_t)data[18] << 8 | data[19];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct chrony_tracking tracking;
    struct claim claim;
    int64_t low_ns, high_ns;
    if (chrony_parse(data, size, sequence_of(data, size), &tracking) != 0)
        return 0;
    if (tracking.stratum > 16 || tracking.root_delay_ns < 0 || tracking.root_dispersion_ns < 0 ||
        tracking.rms_offset_ns < 0 || tracking.skew_ppb < 0)
        abort();
    if (chrony_measured_ns(&tracking, 0, tracking.last_offset_ns) > 0)
        abort();
    claim = chrony_claim(&tracking, &tracking, 0, INT64_MAX);
    if (claim.error_ns < (uint64_t)tracking.root_dispersion_ns)
        abort();
    claim_ends(&claim, tracking.reference_time_ns, UINT32_MAX, &low_ns, &high_ns);
    if (low_ns > claim.offset_ns || high_ns < claim.offset_ns)
        abort();
    return 0;
}
