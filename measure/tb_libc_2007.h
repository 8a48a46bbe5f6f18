/* SPDX-License-Identifier: MIT */
/*
 * What the 2007 article calls tb_libc: the way the C library of that time made gettimeofday()'s
 * seconds and microseconds from the same `systemcfg`. Own writing; see tb_nano_2007.h.
 */
#ifndef TIMEBASE_BENCH_TB_LIBC_2007_H
#define TIMEBASE_BENCH_TB_LIBC_2007_H

#include <sys/time.h>

#include "tb_nano_2007.h"

static inline void tb_libc_2007(const struct systemcfg_2007 *cfg, struct timeval *out)
{
    uint64_t xsec = systemcfg_2007_xsec(cfg);
    out->tv_sec = (time_t)(xsec >> 20);
    out->tv_usec = (suseconds_t)(((xsec & 0xfffff) * 1000000) >> 20);
}

#endif
