/* SPDX-License-Identifier: MIT */
#include "vmclock.h"

#include <timebase/error.h>

/* Little endian, whatever we are. */
static uint64_t get(const unsigned char *bytes, size_t at, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = width; i-- > 0;)
        value = value << 8 | bytes[at + i];
    return value;
}

int vmclock_parse(const unsigned char *bytes, size_t length, struct vmclock *out)
{
    if (length < VMCLOCK_SIZE_MIN || get(bytes, 0x00, 4) != VMCLOCK_MAGIC ||
        get(bytes, 0x04, 4) < VMCLOCK_SIZE_MIN || get(bytes, 0x08, 2) != VMCLOCK_VERSION)
        return TIMEBASE_E_FORMAT;
    bool has_generation = length >= VMCLOCK_SIZE && get(bytes, 0x04, 4) >= VMCLOCK_SIZE &&
        (get(bytes, 0x18, 8) & VMCLOCK_GENERATION_PRESENT) != 0;
    *out = (struct vmclock){
        .counter_id = bytes[0x0a],
        .time_type = bytes[0x0b],
        .seq = (uint32_t)get(bytes, 0x0c, 4),
        .disruption_marker = get(bytes, 0x10, 8),
        .flags = get(bytes, 0x18, 8),
        .status = bytes[0x22],
        .tai_offset_sec = (int16_t)get(bytes, 0x24, 2),
        .leap = bytes[0x26],
        .period_shift = bytes[0x27],
        .counter_value = get(bytes, 0x28, 8),
        .period = get(bytes, 0x30, 8),
        .period_maxerror = get(bytes, 0x40, 8),
        .time_sec = get(bytes, 0x48, 8),
        .time_frac = get(bytes, 0x50, 8),
        .time_esterror_ns = get(bytes, 0x58, 8),
        .time_maxerror_ns = get(bytes, 0x60, 8),
        .generation = has_generation ? get(bytes, 0x68, 8) : 0,
    };
    return TIMEBASE_OK;
}
