/* SPDX-License-Identifier: MIT */
#include "tb_nano_2007.h"

struct systemcfg_2007 timebase_bench_systemcfg;

/* 2^20 xseconds a second, rounded down. The parts are below 2^64: ns < 10^9 * 2^34. */
static uint64_t xsec_from_ns(uint64_t ns)
{
    uint64_t sec = ns / 1000000000, rest = ns % 1000000000;
    return (sec << 20) + (rest << 20) / 1000000000;
}

/*
 * Length of a tick in xseconds, times 2^64: 2^84 / Hz. A double has bits enough: error < 2^-53. It
 * has no room for ticks of an xsecond and longer; without a frequency the clock stands still.
 */
static uint64_t tb_to_xs_from_hz(uint64_t hz)
{
    return hz <= UINT64_C(1) << 20 ? 0 : (uint64_t)(0x1p84 / (double)hz);
}

void systemcfg_2007_update(struct systemcfg_2007 *cfg, const timebase_clock *clock)
{
    struct timebase_instant now;
    struct timebase_statistics statistics;
    timebase_now(clock, &now);
    timebase_clock_statistics(clock, &statistics);

    uint32_t count = __atomic_load_n(&cfg->tb_update_count, __ATOMIC_RELAXED);
    __atomic_store_n(&cfg->tb_update_count, count + 1, __ATOMIC_RELAXED);
    /* partner: the acquire fence of systemcfg_2007_xsec() */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    timebase_page_set_word(&cfg->tb_orig_stamp, now.ticks);
    timebase_page_set_word(&cfg->stamp_xsec, xsec_from_ns((uint64_t)now.utc_ns));
    timebase_page_set_word(&cfg->tb_to_xs, tb_to_xs_from_hz(statistics.frequency_hz));
    __atomic_store_n(&cfg->tb_update_count, count + 2, __ATOMIC_RELEASE);
}
