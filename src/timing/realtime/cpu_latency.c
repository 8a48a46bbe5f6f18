/* SPDX-License-Identifier: MIT */
/*
 * The longest time that an idle CPU of this machine may take to wake up: 0 us, held as long as the
 * file is open (Documentation/power/pm_qos_interface.rst). The kernel takes the least of all
 * holders' values, so no request overrules another and nothing has to be put back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "setting.h"

/* Numbers below belong to standard streams, even if they are closed. */
enum { FIRST_FILE = 3 };

/* A descriptor of at least FIRST_FILE, or -1 with errno. */
static int open_file(void)
{
    int file = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
    if (file < 0 || file >= FIRST_FILE)
        return file;
    int higher = fcntl(file, F_DUPFD_CLOEXEC, FIRST_FILE);
    int error = errno;
    close(file);
    errno = error;
    return higher;
}

/* The kernel takes four bytes for a number in the machine's own byte order. */
static int request_latency(int file, int32_t us)
{
    ssize_t written = write(file, &us, sizeof(us));
    if (written < 0)
        return errno;
    return written == sizeof(us) ? 0 : EIO;
}

static int acquire(struct timebase_realtime *rt, const struct timebase_realtime_request *request)
{
    (void)request;
    int file = open_file();
    if (file < 0)
        return errno;
    int error = request_latency(file, 0);
    if (error != 0)
        close(file);
    else
        rt->latency_file = file;
    return error;
}

/* Whatever close() returns, the file is closed. */
static int release(struct timebase_realtime *rt)
{
    close(rt->latency_file);
    rt->latency_file = -1;
    return 0;
}

static void disinherit(struct timebase_realtime *rt)
{
    release(rt);
}

const struct setting setting_cpu_latency = {
    .bit = TIMEBASE_REALTIME_CPU_LATENCY,
    .name = "short idle latency",
    .advice = "let a group open /dev/cpu_dma_latency by a udev rule (KERNEL==\"cpu_dma_latency\", "
              "GROUP=\"realtime\", MODE=\"0660\") and join it, or run as root; a container must be "
              "given the device",
    .acquire = acquire,
    .release = release,
    .disinherit = disinherit,
};
