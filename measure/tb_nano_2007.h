/* SPDX-License-Identifier: MIT */
/*
 * The clock of "The Power Architecture Time Base register in 64-bit Linux" (2007), written anew to
 * be measured beside ours. Its kernel side, `systemcfg`, is simulated here.
 *
 * Corrected: the reader repeats if the count is odd OR has changed (the article: AND, and `!=`
 * binds tighter than `&`); the loads are ordered (the article's compiler may delete the loop); the
 * multiplication keeps its carry (arithmetic.h). Kept, because it is the algorithm: time is counted
 * in "xseconds" of 2^-20 s, so that readings said to be nanoseconds come in steps of 953 and 954
 * ns; and the counter is read unordered.
 */
#ifndef TIMEBASE_BENCH_TB_NANO_2007_H
#define TIMEBASE_BENCH_TB_NANO_2007_H

#include <stdint.h>

#include <timebase.h>

struct systemcfg_2007 {
    uint64_t tb_orig_stamp;   /* counter at the latest update */
    uint64_t tb_to_xs;        /* xseconds per tick, times 2^64 */
    uint64_t stamp_xsec;      /* xseconds since 1970-01-01 UTC at the latest update */
    uint32_t tb_update_count; /* odd while an update is under way */
} __attribute__((aligned(64)));

extern struct systemcfg_2007 timebase_bench_systemcfg;

/* What the kernel did at boot and at each adjustment. One caller at a time. */
void systemcfg_2007_update(struct systemcfg_2007 *cfg, const timebase_clock *clock);

/* Xseconds since 1970: what both the article's reader and the C library's start from. */
static inline uint64_t systemcfg_2007_xsec(const struct systemcfg_2007 *cfg)
{
    uint32_t count;
    uint64_t xsec;
    do {
        count = __atomic_load_n(&cfg->tb_update_count, __ATOMIC_ACQUIRE);
        uint64_t elapsed = timebase_ticks() - timebase_page_word(&cfg->tb_orig_stamp);
        xsec = timebase_page_word(&cfg->stamp_xsec) +
            timebase_multiply_high(elapsed, timebase_page_word(&cfg->tb_to_xs));
        /* partner: the release fence of systemcfg_2007_update() */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while ((count & 1) != 0 || __atomic_load_n(&cfg->tb_update_count, __ATOMIC_RELAXED) != count);
    return xsec;
}

/* Nanoseconds since 1970-01-01 UTC: xsec * 10^9 / 2^20, the product in 128 bits. */
static inline uint64_t tb_nano_2007(const struct systemcfg_2007 *cfg)
{
    uint64_t low;
    uint64_t high = timebase_multiply(systemcfg_2007_xsec(cfg), 1000000000, &low);
    return (high << 44) | (low >> 20);
}

#endif
