/* SPDX-License-Identifier: MIT */
/*
 * hpet: the High Precision Event Timer's page, mapped read-only (IA-PC HPET Specification 1.0a,
 * 2.3). The kernel must have been built with HPET_MMAP and allow it (hpet_mmap=1).
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <timebase/error.h>

#include "timer.h"

/* Offsets of registers, in bytes. */
enum { CAPABILITIES = 0x00, CONFIGURATION = 0x10, MAIN_COUNTER = 0xf0, MAP_SIZE = 4096 };
/* Capabilities: the counter has 64 bits; its period in 10^-15 s is the upper half. */
#define COUNTER_IS_LONG ((uint64_t)1 << 13)
#define PERIOD_SHIFT 32
#define PERIOD_MAX_FS 100000000u /* 100 ns, says the specification */
#define FS_PER_NS 1000000
/* Configuration: the main counter runs. */
#define IS_ENABLED 1u

static int fail(struct timer *timer, int error, const char *reason)
{
    timer->reason = reason;
    return error;
}

static uint32_t half_register(const struct timer *timer, size_t offset)
{
    return le32toh(*(const volatile uint32_t *)((const char *)timer->registers + offset));
}

/* The upper half may have moved on: it must be the same before and after the lower one. */
static uint64_t whole_register(const struct timer *timer, size_t offset)
{
    uint32_t high, low, again = half_register(timer, offset + 4);
    do {
        high = again;
        low = half_register(timer, offset);
        again = half_register(timer, offset + 4);
    } while (again != high);
    return (uint64_t)high << 32 | low;
}

static int read_hpet(struct timer *timer, uint64_t *raw)
{
    *raw = timer->width == 64 ? whole_register(timer, MAIN_COUNTER)
                              : half_register(timer, MAIN_COUNTER);
    return TIMEBASE_OK;
}

/* A regular file in the device's place must be as long as the map: behind its end is SIGBUS. */
static int map(struct timer *timer)
{
    struct stat status;
    if (fstat(timer->fd, &status) != 0 || (S_ISREG(status.st_mode) && status.st_size < MAP_SIZE))
        return fail(timer, TIMEBASE_E_FORMAT, "the file is too short for an HPET");
    void *registers = mmap(NULL, MAP_SIZE, PROT_READ, MAP_SHARED, timer->fd, 0);
    if (registers == MAP_FAILED)
        return fail(timer,
                    errno == EPERM || errno == EACCES ? TIMEBASE_E_PERMISSION
                                                      : TIMEBASE_E_UNSUPPORTED,
                    "the kernel does not let the HPET be mapped (hpet_mmap=1)");
    timer->registers = registers;
    return TIMEBASE_OK;
}

static int examine(struct timer *timer)
{
    uint64_t capabilities = whole_register(timer, CAPABILITIES);
    uint64_t period_fs = capabilities >> PERIOD_SHIFT;
    if (period_fs == 0 || period_fs > PERIOD_MAX_FS)
        return fail(timer, TIMEBASE_E_FORMAT, "the HPET tells an impossible period");
    if (!(half_register(timer, CONFIGURATION) & IS_ENABLED))
        return fail(timer, TIMEBASE_E_REFERENCE, "the HPET is switched off");
    timer->numerator = period_fs;
    timer->denominator = FS_PER_NS;
    timer->width = capabilities & COUNTER_IS_LONG ? 64 : 32;
    return TIMEBASE_OK;
}

int timer_open_hpet(struct timer *timer, const char *device)
{
    *timer = (struct timer){.read = read_hpet};
    timer->fd = open(device != NULL ? device : "/dev/hpet", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (timer->fd < 0 && (errno == EACCES || errno == EPERM))
        return fail(timer, TIMEBASE_E_PERMISSION, "the HPET may not be opened");
    if (timer->fd < 0)
        return fail(timer, TIMEBASE_E_REFERENCE, "there is no HPET here");
    int error = map(timer);
    if (error == TIMEBASE_OK)
        error = examine(timer);
    if (error == TIMEBASE_OK)
        error = timer_begin(timer);
    if (error != TIMEBASE_OK)
        timer_close(timer);
    return error;
}
