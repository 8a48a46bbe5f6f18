/* SPDX-License-Identifier: MIT */
#include "slew.h"

#include <sys/timex.h>
#include <unistd.h>

#include "clock/discipline/assumptions.h"

#define SLEW_PPB (ASSUME_SLEW_PPM * 1000LL)
/* adjtime() works off 500 us in each second. */
#define ADJTIME_PPB 500000
/* A tick of 9,000 to 11,000 us in place of 10,000, beside frequency and adjtime(). */
#define TICK_MOST_PPB 100000000
/* The kernel's SHIFT_PLL: of a pending phase, a part in 2^(2 + constant) in each second. */
enum { SHIFT_PLL = 2, CONSTANT_MAX = 10 };
/* The kernel takes no larger phase. */
#define PHASE_MAX_NS 500000000

/* The frequency's unit is 2^-16 ppm. */
static int64_t frequency_ppb(const struct timex *timex)
{
    return (int64_t)timex->freq * 1000 / 65536;
}

static int64_t tick_ppb(const struct timex *timex)
{
    long hz = sysconf(_SC_CLK_TCK);
    int64_t nominal_us = 1000000 / (hz > 0 ? hz : 100);
    return ((int64_t)timex->tick - nominal_us) * 1000000000 / nominal_us;
}

/* A kernel that tells microseconds divides a negative phase as an unsigned number of 32 bits. */
int64_t slew_pending_ns(const struct timex *timex)
{
    if (timex->status & STA_NANO)
        return timex->offset;
    int64_t offset_ns = (int64_t)timex->offset * 1000;
    return offset_ns > PHASE_MAX_NS ? offset_ns - ((int64_t)1 << 32) : offset_ns;
}

/*
 * adjtimex tells the phase that is left after this second's part was taken. So the part in force is
 * one in 2^n - 1 of it, rounded away from 0. The kernel works it off whether STA_PLL is on or not:
 * a daemon that clears the bit leaves what was pending.
 */
static int64_t phase_ppb(const struct timex *timex)
{
    int64_t offset_ns = slew_pending_ns(timex);
    int constant = timex->constant > 0 ? (int)timex->constant : 0;
    if (constant > CONSTANT_MAX)
        constant = CONSTANT_MAX;
    int64_t parts = ((int64_t)1 << (SHIFT_PLL + constant)) - 1;
    return (offset_ns + (offset_ns > 0 ? parts - 1 : 1 - parts)) / parts;
}

/* Far from the edges: the kernel keeps both below 10^9. */
static uint64_t size(int64_t ppb)
{
    return (uint64_t)(ppb < 0 ? -ppb : ppb);
}

struct slew slew_of(const struct timex *timex, int64_t adjtime_us)
{
    int64_t tick = tick_ppb(timex), phase = phase_ppb(timex);
    int64_t adjtime = adjtime_us == 0 ? 0 : adjtime_us > 0 ? ADJTIME_PPB : -ADJTIME_PPB;
    return (struct slew){
        .is_known = true,
        .rate_ppb = frequency_ppb(timex) + tick + phase + adjtime,
        .most_ppb = SLEW_PPB + size(tick) + size(phase),
    };
}

struct slew slew_unknown(void)
{
    return (struct slew){.most_ppb = SLEW_PPB + ADJTIME_PPB + TICK_MOST_PPB};
}

struct slew slew_read(void)
{
    struct timex timex = {0}, adjtime = {.modes = ADJ_OFFSET_SS_READ};
    if (adjtimex(&timex) < 0 || adjtimex(&adjtime) < 0)
        return slew_unknown();
    return slew_of(&timex, adjtime.offset);
}
