/* SPDX-License-Identifier: MIT */
/*
 * Three ways to compare a PTP clock with the system clock, the best that its driver and the kernel
 * know: one instant captured by both; reads of the system clock right before and after the device's
 * register; and the same from here.
 */
#include <errno.h>
#include <linux/ptp_clock.h>

#include <timebase/error.h>

#include "phc.h"

#define SAMPLES 5
#define SEC_NS 1000000000
/* The year 2200: its nanoseconds fit. */
#define SEC_MAX 7258118400

static int fail(struct phc *phc, int error, const char *reason)
{
    phc->reason = reason;
    return error;
}

/* The clock behind a file descriptor, as clock_gettime wants it (the kernel's CLOCKFD). */
static clockid_t clock_of(int fd)
{
    return (clockid_t)(~(unsigned)fd << 3 | 3);
}

/* INT64_MIN if it is no time that this could be. */
static int64_t to_ns(const struct ptp_clock_time *time)
{
    if (time->sec < 0 || time->sec > SEC_MAX || time->nsec >= SEC_NS)
        return INT64_MIN;
    return time->sec * SEC_NS + time->nsec;
}

static int read_precise(const struct phc *phc, struct phc_reading *reading)
{
    struct ptp_sys_offset_precise both = {0};
    if (phc->calls->ioctl(phc->fd, PTP_SYS_OFFSET_PRECISE, &both) != 0)
        return -1;
    reading->device_ns = to_ns(&both.device);
    reading->before_ns = to_ns(&both.sys_realtime);
    reading->after_ns = reading->before_ns;
    errno = EAGAIN;
    return reading->before_ns != INT64_MIN ? 0 : -1;
}

/* The narrower of two, the first of them perhaps not there yet. */
static void keep_narrower(struct phc_reading *best, bool *has_best, const struct phc_reading *next)
{
    if (next->before_ns == INT64_MIN || next->after_ns < next->before_ns)
        return; /* no time, or stepped back in between */
    if (!*has_best || next->after_ns - next->before_ns < best->after_ns - best->before_ns)
        *best = *next;
    *has_best = true;
}

static int read_extended(const struct phc *phc, struct phc_reading *reading)
{
    struct ptp_sys_offset_extended samples = {.n_samples = SAMPLES};
    bool has_reading = false;
    if (phc->calls->ioctl(phc->fd, PTP_SYS_OFFSET_EXTENDED, &samples) != 0)
        return -1;
    for (unsigned i = 0; i < SAMPLES; i++) {
        struct phc_reading next = {to_ns(&samples.ts[i][0]), to_ns(&samples.ts[i][1]),
                                   to_ns(&samples.ts[i][2])};
        keep_narrower(reading, &has_reading, &next);
    }
    errno = EAGAIN;
    return has_reading ? 0 : -1;
}

static int read_clock(const struct phc *phc, struct phc_reading *reading)
{
    bool has_reading = false;
    for (unsigned i = 0; i < SAMPLES; i++) {
        struct phc_reading next;
        next.before_ns = phc->calls->clock_ns(CLOCK_REALTIME);
        next.device_ns = phc->calls->clock_ns(clock_of(phc->fd));
        if (next.device_ns == INT64_MIN)
            return -1;
        next.after_ns = phc->calls->clock_ns(CLOCK_REALTIME);
        keep_narrower(reading, &has_reading, &next);
    }
    errno = EAGAIN;
    return has_reading ? 0 : -1;
}

/* The errors of a driver that does not know this call: it is not tried again. */
static bool is_unsupported(int error)
{
    return error == EOPNOTSUPP || error == ENOTTY || error == EINVAL || error == ENOSYS;
}

int phc_read(struct phc *phc, struct phc_reading *reading)
{
    static int (*const methods[])(const struct phc *, struct phc_reading *) = {
        [PHC_PRECISE] = read_precise,
        [PHC_EXTENDED] = read_extended,
        [PHC_CLOCK] = read_clock,
    };
    for (;;) {
        if (methods[phc->method](phc, reading) == 0)
            return TIMEBASE_OK;
        if (errno == EACCES || errno == EPERM)
            return fail(phc, TIMEBASE_E_PERMISSION, "the PTP clock may not be read");
        if (!is_unsupported(errno) || phc->method == PHC_CLOCK)
            return fail(phc, TIMEBASE_E_REFERENCE, "the PTP clock cannot be read");
        phc->method++;
    }
}
