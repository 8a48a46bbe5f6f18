/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the hypervisor's page, at any tick: refused, or a claim that contains its offset.
 *
 * fuzz-runs: 2000000
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/sources/vmclock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first bytes are the moment; magic, size and version are put right, or little would follow. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vmclock_moment moment;
    unsigned char page[VMCLOCK_SIZE] = {0};
    struct vmclock clock;
    struct claim claim;
    const char *reason;
    int64_t low_ns, high_ns;
    vmclock_parse(data, size, &clock);
    if (size < sizeof(uint64_t) * 2)
        return 0;
    memcpy(&moment.ticks, data, sizeof(uint64_t));
    memcpy(&moment.error_ticks, data + sizeof(uint64_t), sizeof(uint64_t));
    data += 2 * sizeof(uint64_t);
    size -= 2 * sizeof(uint64_t);
    memcpy(page, data, size < sizeof(page) ? size : sizeof(page));
    memcpy(page, "VCLK\x00\x10\x00\x00\x01\x00", 10);
    if (vmclock_parse(page, sizeof(page), &clock) != 0)
        abort();
    moment.mono_ns = 1000000000000;
    moment.utc_offset_ns = 1795000000000000000;
    moment.counter_id = clock.counter_id;
    if (vmclock_claim(&clock, &moment, &claim, &reason) != 0) {
        if (reason == NULL)
            abort();
        return 0;
    }
    if (claim.disruption_marker == 0 ||
        (claim.error_ns == UINT64_MAX && claim.is_synchronized &&
         clock.time_maxerror_ns < UINT64_MAX / 2 && reason != NULL))
        abort();
    claim_ends(&claim, 0, 50000, &low_ns, &high_ns);
    if (low_ns > claim.offset_ns || high_ns < claim.offset_ns)
        abort();
    return 0;
}
