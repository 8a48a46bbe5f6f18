/* SPDX-License-Identifier: MIT */
/*
 * device_hpet: the High Precision Event Timer's page, mapped read-only (IA-PC HPET Specification
 * 1.0a, 2.3). The kernel must have been built with HPET_MMAP and allow it (hpet_mmap=1).
 */
#include <endian.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "device.h"

/* Offsets of registers, in bytes. */
enum { CAPABILITIES = 0x00, CONFIGURATION = 0x10, MAIN_COUNTER = 0xf0, MAP_SIZE = 4096 };
/* Capabilities: the upper half is the period of a count in 10^-15 s. */
#define PERIOD_MAX_FS 100000000u /* 100 ns, says the specification */
#define SEC_FS 1e15
/* Configuration: the main counter runs. */
#define IS_ENABLED 1u

static uint32_t half_register(const struct device *device, size_t offset)
{
    return le32toh(*(const volatile uint32_t *)((const char *)device->registers + offset));
}

/* The lower half alone, of counters of 64 bits too: one read over the bus and not three. */
static int read_hpet(struct device *device, uint64_t *raw)
{
    *raw = half_register(device, MAIN_COUNTER);
    return TIMEBASE_OK;
}

/* A regular file in the device's place must be as long as the map: behind its end is SIGBUS. */
static int map(struct device *device)
{
    struct stat status;
    if (fstat(device->fd, &status) != 0 || (S_ISREG(status.st_mode) && status.st_size < MAP_SIZE))
        return device_fail(device, TIMEBASE_E_FORMAT, "the file is too short for an HPET");
    void *registers = mmap(NULL, MAP_SIZE, PROT_READ, MAP_SHARED, device->fd, 0);
    if (registers == MAP_FAILED)
        return device_fail(device,
                           errno == EPERM || errno == EACCES ? TIMEBASE_E_PERMISSION
                                                             : TIMEBASE_E_UNSUPPORTED,
                           "the kernel does not let the HPET be mapped");
    device->registers = registers;
    return TIMEBASE_OK;
}

static int examine(struct device *device)
{
    uint32_t period_fs = half_register(device, CAPABILITIES + 4);
    if (period_fs == 0 || period_fs > PERIOD_MAX_FS)
        return device_fail(device, TIMEBASE_E_FORMAT, "the HPET tells an impossible period");
    if (!(half_register(device, CONFIGURATION) & IS_ENABLED))
        return device_fail(device, TIMEBASE_E_REFERENCE, "the HPET is switched off");
    device->hz = SEC_FS / period_fs;
    return TIMEBASE_OK;
}

int device_open_hpet(struct device *device, const char *path)
{
    *device = (struct device){.read = read_hpet, .width = 32, .fd = -1};
    int error = device_open_file(device, path != NULL ? path : "/dev/hpet", "there is no HPET here",
                                 "the HPET may not be opened");
    if (error == TIMEBASE_OK)
        error = map(device);
    if (error == TIMEBASE_OK)
        error = examine(device);
    if (error != TIMEBASE_OK)
        device_close(device);
    return error;
}
