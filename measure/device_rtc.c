/* SPDX-License-Identifier: MIT */
/*
 * device_rtc: the battery clock, which counts seconds. Reading it needs no rights. Its driver waits
 * up to some ms while the chip moves on, so an edge is known to that only.
 */
#include <stdlib.h>
#include <unistd.h>

#include "device.h"

enum { DIGITS_MAX = 24 };

static int read_rtc(struct device *device, uint64_t *raw)
{
    char text[DIGITS_MAX + 1], *end;
    ssize_t length = pread(device->fd, text, DIGITS_MAX, 0);
    if (length <= 0)
        return device_fail(device, TIMEBASE_E_REFERENCE, "the battery clock cannot be read");
    text[length] = '\0';
    *raw = strtoull(text, &end, 10) & device_mask(device->width);
    if (end == text)
        return device_fail(device, TIMEBASE_E_FORMAT, "the battery clock shows no number");
    return TIMEBASE_OK;
}

int device_open_rtc(struct device *device, const char *path)
{
    *device = (struct device){.read = read_rtc, .hz = 1, .width = 32, .fd = -1};
    return device_open_file(device, path != NULL ? path : "/sys/class/rtc/rtc0/since_epoch",
                            "there is no battery clock here", "the battery clock may not be read");
}
