/* SPDX-License-Identifier: MIT */
/* vmclock_page: a hypervisor's page, as the tests write it. */
#ifndef TEST_VMCLOCK_PAGE_H
#define TEST_VMCLOCK_PAGE_H

#include <string.h>

#include <timebase/counter.h>

#include "daemon/sources/vmclock.h"

#define SEC_NS 1000000000
#define NOW_SEC 1795274325      /* in November 2026 */
#define GHZ_PERIOD 18446744073u /* 2^64 / 10^9: a nanosecond, 0.04 ppb short */

static unsigned char page[4096] __attribute__((aligned(4096)));

static inline void put(size_t at, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width; i++)
        page[at + i] = (unsigned char)(value >> 8 * i);
}

/* A clock of 1 GHz that is right to 100 ns, shows TAI, and is followed by its hypervisor. */
static inline void fill(void)
{
    memset(page, 0, sizeof(page));
    put(0x00, 4, VMCLOCK_MAGIC);
    put(0x04, 4, sizeof(page));
    put(0x08, 2, 1);
    put(0x0a, 1, (uint64_t)timebase_counter_id());
    put(0x0b, 1, VMCLOCK_TAI);
    put(0x0c, 4, 8);
    put(0x10, 8, 41);
    put(0x18, 8,
        VMCLOCK_TAI_OFFSET_VALID | VMCLOCK_PERIOD_MAXERROR_VALID | VMCLOCK_TIME_MAXERROR_VALID);
    put(0x22, 1, VMCLOCK_SYNCHRONIZED);
    put(0x24, 2, 37);
    put(0x28, 8, 1000000);
    put(0x30, 8, GHZ_PERIOD);
    put(0x40, 8, GHZ_PERIOD / 100000); /* 10 ppm */
    put(0x48, 8, NOW_SEC + 37);
    put(0x60, 8, 100);
}

#endif
