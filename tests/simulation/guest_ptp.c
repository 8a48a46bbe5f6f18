/* SPDX-License-Identifier: MIT */
/* A PTP clock of the host's, as its driver meets it: right to within what its owner vouches for,
 * whatever befalls the guest. */
#include <errno.h>
#include <linux/ptp_clock.h>
#include <stdarg.h>

#include "guest.h"

int __wrap_ioctl(int fd, unsigned long request, ...);

/* Other processors' registers are as far away. */
#define READ_NS 400

static struct ptp_clock_time time_of(int64_t ns)
{
    return (struct ptp_clock_time){.sec = ns / SECOND, .nsec = (uint32_t)(ns % SECOND)};
}

static int64_t realtime_ns(void)
{
    return guest_mono_ns() + guest.utc_offset_ns;
}

static void read_clock(struct ptp_sys_offset_extended *samples)
{
    for (unsigned i = 0; i < samples->n_samples; i++) {
        samples->ts[i][0] = time_of(realtime_ns());
        guest_pass((int64_t)guest_between(1, READ_NS));
        samples->ts[i][1] = time_of(guest_utc_ns() + guest.ptp.off_ns);
        guest_pass((int64_t)guest_between(1, READ_NS));
        samples->ts[i][2] = time_of(realtime_ns());
    }
    guest.ptp.heard_ns = guest.now_ns;
    guest.ptp.heard_mono_ns = guest_mono_ns();
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    (void)fd;
    errno = guest.ptp.is_up ? ENOTTY : EIO;
    if (!guest.ptp.is_up)
        return -1;
    if (request == PTP_CLOCK_GETCAPS)
        return 0;
    if (request != PTP_SYS_OFFSET_EXTENDED)
        return -1;
    read_clock(argument);
    return 0;
}
