/* SPDX-License-Identifier: MIT */
#include "reference_device.h"

#include <timebase/counter.h>
#include <timebase/error.h>

enum { BRACKETS = 5 };

/* Monotonic time begins here: 0 is nobody's time. */
#define BEGIN_NS 1000000000
/* Nobody knows UTC here: 36 years. */
#define UTC_ERROR_NS ((int64_t)1 << 60)
/* Of a crystal, against another one. */
#define CRYSTAL_PPB 100000

/* The number of steps with these lower bits that is nearest to what the counter suggests. */
static uint64_t unwrap(const struct reference_device *reference, uint64_t raw, uint64_t ticks)
{
    uint64_t mask = reference->device.mask, moved = (raw - reference->seen_raw) & mask;
    double expected = (double)(ticks - reference->seen_ticks) * reference->steps_per_tick;
    double wraps = (expected - (double)moved) / ((double)mask + 1) + 0.5;
    uint64_t whole = wraps > 0 ? (uint64_t)wraps : 0;
    return reference->seen_steps + moved + whole * (mask + 1);
}

/* In two parts, as the product of steps and period has more than 64 bits. */
static int64_t ns_of(const struct reference_device *reference, uint64_t steps)
{
    enum { FS_PER_NS = 1000000 };
    uint64_t period_fs = reference->device.period_fs;
    return BEGIN_NS +
        (int64_t)(steps / FS_PER_NS * period_fs + steps % FS_PER_NS * period_fs / FS_PER_NS);
}

static int sample(void *context, struct discipline_sample *out)
{
    struct reference_device *reference = context;
    uint64_t width = UINT64_MAX, raw = 0;
    for (int i = 0; i < BRACKETS; i++) {
        uint64_t before = timebase_ticks_ordered(), reading = reference->device.read();
        uint64_t after = timebase_ticks_ordered();
        if (after - before >= width)
            continue;
        width = after - before;
        raw = reading;
        out->ticks_before = before;
        out->ticks_after = after;
    }
    reference->seen_steps = unwrap(reference, raw, out->ticks_before);
    reference->seen_ticks = out->ticks_before;
    reference->seen_raw = raw;
    out->mono_ns = ns_of(reference, reference->seen_steps);
    out->step_ticks = reference->step_ticks;
    out->reference_step_ns = reference->device.period_fs / 1000000 + 1;
    out->maxerror_ns = UTC_ERROR_NS;
    out->maxerror_ppb = CRYSTAL_PPB;
    return TIMEBASE_OK;
}

static int moment(void *context, struct reference_moment *out)
{
    const struct reference_device *reference = context;
    uint64_t ticks = timebase_ticks_ordered();
    *out = (struct reference_moment){0};
    out->mono_ns = ns_of(reference, unwrap(reference, reference->device.read(), ticks));
    out->error_ns = reference->device.period_fs / 1000000 + 1;
    out->maxerror_ns = UTC_ERROR_NS;
    return TIMEBASE_OK;
}

static void close(void *context)
{
    (void)context;
}

const struct reference reference_device = {
    .name = "device",
    .sample = sample,
    .moment = moment,
    .close = close,
};

void reference_device_begin(struct reference_device *reference, const struct device *device,
                            double tsc_hz)
{
    reference->device = *device;
    reference->steps_per_tick = 1e15 / (double)device->period_fs / tsc_hz;
    reference->seen_ticks = timebase_ticks_ordered();
    reference->seen_raw = device->read();
    reference->seen_steps = 0;
    reference->step_ticks = counter_measure_step();
}
