/* SPDX-License-Identifier: MIT */
#include "timers.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "device_rate.h"

#define SEC_NS 1000000000

static int open_hpet(struct device *device)
{
    return device_open_hpet(device, NULL);
}

static int open_acpi_pm(struct device *device)
{
    return device_open_acpi_pm(device, NULL, NULL);
}

static int open_rtc(struct device *device)
{
    return device_open_rtc(device, NULL);
}

static const struct {
    const char *name; /* as the kernel calls its clocksources */
    int (*open)(struct device *device);
} timers[] = {
    {"kernel", device_open_kernel},
    {"hpet", open_hpet},
    {"acpi_pm", open_acpi_pm},
    {"rtc", open_rtc},
};
enum { TIMERS = sizeof(timers) / sizeof(timers[0]) };

int timebase_bench_timers(void)
{
    return TIMERS;
}

const char *timebase_bench_timer_name(int which)
{
    return which >= 0 && which < TIMERS ? timers[which].name : NULL;
}

static uint64_t read_ticks(void *context)
{
    (void)context;
    return timebase_ticks_ordered();
}

static void rest(void *context, uint64_t ticks)
{
    const double *hz = (const double *)context;
    uint64_t ns = (uint64_t)((double)ticks * SEC_NS / *hz);
    struct timespec wait = {(time_t)(ns / SEC_NS), (long)(ns % SEC_NS)};
    while (nanosleep(&wait, &wait) != 0 && errno == EINTR)
        ;
}

int timebase_bench_timer(int which, uint32_t milliseconds, struct timebase_bench_timer *out)
{
    struct timebase_counter counter;
    struct device device;
    memset(out, 0, sizeof(*out));
    if (timebase_bench_timer_name(which) == NULL || milliseconds == 0)
        return TIMEBASE_E_INVALID;
    int error = timebase_counter_probe(&counter);
    if (error == TIMEBASE_OK)
        error = timers[which].open(&device);
    else
        device = (struct device){.reason = "the counter cannot be looked at", .fd = -1};
    if (error == TIMEBASE_OK) {
        double hz = (double)counter.frequency_hz;
        struct device_outside outside = {
            .ticks = read_ticks, .rest = rest, .context = &hz, .hz = hz};
        error = device_rate(&device, &outside, (uint64_t)(hz * milliseconds / 1000), out);
        device_close(&device);
    }
    out->reason = error != TIMEBASE_OK ? device.reason : NULL;
    return error;
}
