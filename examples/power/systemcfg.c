/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "systemcfg.h"

_Static_assert(offsetof(struct systemcfg, tb_orig_stamp) == 0x30, "as in asm-ppc64/systemcfg.h");
_Static_assert(offsetof(struct systemcfg, tb_update_count) == 0x50, "as in asm-ppc64/systemcfg.h");

const struct systemcfg *cfg;

static struct systemcfg own;

static uint64_t xsec_from_ns(uint64_t ns)
{
    return ns / 1000000000 * XSEC_PER_SEC + ns % 1000000000 * XSEC_PER_SEC / 1000000000;
}

/* Its first nanosecond. */
static int64_t ns_from_xsec(uint64_t xsec)
{
    uint64_t sec = xsec / XSEC_PER_SEC, rest = xsec % XSEC_PER_SEC;
    return (int64_t)(sec * 1000000000 + (rest * 1000000000 + XSEC_PER_SEC - 1) / XSEC_PER_SEC);
}

/* 2^20 * 2^64 / Hz. Ticks of an xsecond and longer have no such number; 53 bits are enough. */
static uint64_t tb_to_xs_from_hz(uint64_t hz)
{
    return hz <= XSEC_PER_SEC ? 0 : (uint64_t)(0x1p84 / (double)hz);
}

static void store(struct systemcfg *kept, uint64_t stamp_xsec, uint64_t stamp, uint64_t hz)
{
    /* Odd already, if a keeper of this file was killed in the middle. */
    uint64_t count = timebase_page_word(&kept->tb_update_count) | 1;
    timebase_page_set_word(&kept->tb_update_count, count);
    /* partner: the second acquire fence of tb_xsec() */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    timebase_page_set_word(&kept->tb_orig_stamp, stamp);
    timebase_page_set_word(&kept->tb_ticks_per_sec, hz);
    timebase_page_set_word(&kept->tb_to_xs, tb_to_xs_from_hz(hz));
    timebase_page_set_word(&kept->stamp_xsec, stamp_xsec);
    /* partner: the first acquire fence of tb_xsec() */
    timebase_page_set_word_release(&kept->tb_update_count, count + 1);
}

/*
 * The time in xseconds is rounded down, so the stamp is the first tick of that xsecond: no error is
 * left for the next renewal to take back. The pace is that of the second to come, which is right
 * to a tick, and off by a slew of the clock, 500 ppm at most, while one is under way.
 */
void systemcfg_renew(struct systemcfg *kept, const timebase_clock *clock)
{
    uint64_t xsec = xsec_from_ns((uint64_t)timebase_utc_ns(clock));
    uint64_t stamp = timebase_ticks_at_utc(clock, ns_from_xsec(xsec));
    uint64_t later = timebase_ticks_at_utc(clock, ns_from_xsec(xsec + XSEC_PER_SEC));
    if (kept->eye_catcher[0] == '\0') {
        memcpy(kept->eye_catcher, "SYSTEMCFG:PPC64", sizeof kept->eye_catcher);
        kept->version.major = kept->version.minor = 1;
    }
    store(kept, xsec, stamp, later - stamp);
}

static void *keep_own(void *clock)
{
    const struct timespec interval = {0, SYSTEMCFG_RENEWAL_NS};
    for (;;) {
        systemcfg_renew(&own, clock);
        nanosleep(&interval, NULL);
    }
    return NULL;
}

static const struct systemcfg *map(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    void *mapped = mmap(NULL, sizeof(struct systemcfg), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return mapped == MAP_FAILED ? NULL : mapped;
}

int systemcfg_open(const char *path)
{
    pthread_t keeper;
    timebase_clock *clock;
    cfg = map(path == NULL ? SYSTEMCFG_PATH : path);
    if (cfg != NULL && timebase_page_word(&cfg->tb_to_xs) != 0)
        return 0;
    cfg = &own;
    timebase_clock_attach_or_default(&clock, NULL);
    systemcfg_renew(&own, clock);
    return pthread_create(&keeper, NULL, keep_own, clock) == 0 ? 1 : -1;
}
