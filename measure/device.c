/* SPDX-License-Identifier: MIT */
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_SIZE = 4096 };

int device_fail(struct device *device, int error, const char *reason)
{
    device->reason = reason;
    return error;
}

int device_open_file(struct device *device, const char *path, const char *absent,
                     const char *refused)
{
    device->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (device->fd >= 0)
        return TIMEBASE_OK;
    if (errno == EACCES || errno == EPERM)
        return device_fail(device, TIMEBASE_E_PERMISSION, refused);
    if (errno == ENOENT || errno == ENOTDIR || errno == ENXIO || errno == ENODEV)
        return device_fail(device, TIMEBASE_E_NOT_FOUND, absent);
    return device_fail(device, TIMEBASE_E_REFERENCE, "its file cannot be opened");
}

void device_close(struct device *device)
{
    if (device->release != NULL)
        device->release(device);
    if (device->registers != NULL)
        munmap(device->registers, PAGE_SIZE);
    if (device->fd >= 0)
        close(device->fd);
    device->release = NULL;
    device->registers = NULL;
    device->fd = -1;
}

uint64_t device_mask(unsigned width)
{
    return width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
}

int device_middle(const uint64_t raw[3], unsigned width, uint64_t *middle)
{
    /* Read byte by byte, a carry in between makes a reading late by 256 counts. */
    const uint64_t close = 128;
    uint64_t first = (raw[1] - raw[0]) & device_mask(width);
    uint64_t second = (raw[2] - raw[1]) & device_mask(width);
    *middle = raw[1];
    return first < close && second < close && first + second < close ? TIMEBASE_OK
                                                                     : TIMEBASE_E_TORN;
}
