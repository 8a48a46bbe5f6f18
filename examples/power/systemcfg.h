/* SPDX-License-Identifier: MIT */
/*
 * systemcfg: what "The Power Architecture Time Base register in 64-bit Linux" (2007) reads, under
 * the names and in the places that <asm/systemcfg.h> gave it.
 *
 *     if (systemcfg_open(NULL) < 0)
 *         ... neither a file nor a thread of our own ...
 *     uint64_t now_ns = tb_nano();     // tb_nano.h; it reads cfg->tb_orig_stamp and the others
 *
 * Linux 5.10 keeps the fields, 6.1 leaves them 0. systemcfg_open() then has a thread of the process
 * keep them, from this library's clock. keeper.c keeps them in a file, for programs that cannot be
 * compiled again.
 */
#ifndef SYSTEMCFG_H
#define SYSTEMCFG_H

#include <stdint.h>

#include <timebase.h>

#define SYSTEMCFG_PATH "/proc/ppc64/systemcfg"
#define XSEC_PER_SEC ((uint64_t)1 << 20)

/* Version 1.1, the kernel's own since Linux 2.6. Words in the byte order of the machine. */
struct systemcfg {
    char eye_catcher[16]; /* "SYSTEMCFG:PPC64" */
    struct {
        uint32_t major, minor;
    } version;
    uint32_t platform, processor;
    uint64_t processorCount, physicalMemorySize;
    uint64_t tb_orig_stamp;    /* the tick that stamp_xsec is the time of */
    uint64_t tb_ticks_per_sec; /* ticks */
    uint64_t tb_to_xs;         /* xseconds in a tick, times 2^64; 0: nobody keeps these fields */
    uint64_t stamp_xsec;       /* xseconds, of 2^-20 s, since 1970-01-01 UTC */
    uint64_t tb_update_count;  /* odd while the four above are being changed */
};

/* The fields that this process reads: the name is the article's. */
extern const struct systemcfg *cfg;

/*
 * Points cfg to the file (NULL: SYSTEMCFG_PATH) if somebody keeps its fields, else to memory that a
 * new thread renews. 0: the file. 1: the thread, which a child of fork() does not have. -1: none.
 */
int systemcfg_open(const char *path);

/* As often as kernels of 100 ticks a second did. */
#define SYSTEMCFG_RENEWAL_NS 10000000

/* Makes the fields tell the time of this clock. One caller at a time. */
void systemcfg_renew(struct systemcfg *kept, const timebase_clock *clock);

#endif
