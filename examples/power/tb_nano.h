/* SPDX-License-Identifier: MIT */
/*
 * The article's readers of cfg, mended where its listing 5 reads wrongly:
 *
 *     it repeats if the count is odd OR has changed, not AND: fields of two updates never mix
 *     fences keep the fields between the two counts; without them the compiler deletes the loop
 *     the Time Base is read after the stamp: a tick before it would be a time far in the future
 *
 * Kept is what makes the algorithm: nanoseconds are made of xseconds, so they come in steps of 953
 * and 954. timebase_utc_ns() has no such steps, and a bound.
 */
#ifndef TB_NANO_H
#define TB_NANO_H

#include <sys/time.h>

#include "multiply.h"
#include "systemcfg.h"

static inline uint64_t tb_xsec(void)
{
    uint64_t count, high, low, xsec;
    do {
        count = timebase_page_word(&cfg->tb_update_count);
        /* partner: the last store of an update */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        uint64_t stamp = timebase_page_word(&cfg->tb_orig_stamp);
        multiply(timebase_ticks_ordered() - stamp, timebase_page_word(&cfg->tb_to_xs), &high, &low);
        xsec = timebase_page_word(&cfg->stamp_xsec) + high;
        /* partner: the fence after the first store of an update */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while ((count & 1) != 0 || timebase_page_word(&cfg->tb_update_count) != count);
    return xsec;
}

/* xsec * units / 2^20, the product in 128 bits. */
static inline uint64_t tb_scaled(uint64_t units_per_sec)
{
    uint64_t high, low;
    multiply(tb_xsec(), units_per_sec, &high, &low);
    return (high << 44) | (low >> 20);
}

/* Since 1970-01-01 UTC: listings 3 and 4. */
static inline uint64_t tb_nano(void)
{
    return tb_scaled(1000000000);
}

static inline uint64_t tb_milli(void)
{
    return tb_scaled(1000);
}

/* The article's tb_libc: gettimeofday() as the C library of that time had it. */
static inline void tb_libc(struct timeval *time)
{
    uint64_t xsec = tb_xsec();
    time->tv_sec = (time_t)(xsec / XSEC_PER_SEC);
    time->tv_usec = (suseconds_t)(xsec % XSEC_PER_SEC * 1000000 / XSEC_PER_SEC);
}

#endif
